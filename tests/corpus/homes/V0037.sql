UPDATE skills SET told_at = changed_at WHERE version_id IS NOT NULL;
