UPDATE files SET passages = '1 trusted' WHERE id = (SELECT min(id) FROM files);
