//! The phrases of the rules in German, French, Spanish, Italian, Portuguese, Russian, Chinese and
//! Japanese.
//!
//! Diacritics on Latin letters are ignored. Each Chinese or Japanese character counts as a word, so
//! that a phrase of several is written without separators.

use super::phrases::{EXFILTRATION, Group, OVERRIDE, ROLE, SECRECY, Unless};

pub(super) const GROUPS: &[Group] = &[
    Group {
        rule: "override",
        says: OVERRIDE,
        unless: Unless::Denied,
        rows: &[
            // German
            "ignorier*|missachte*|vergiss|vergesse*|vergessen|verwirf|übergeh*|überschreib*|umgehe ..5 bisherige*|vorherige*|frühere*|vorige*|obige*|alle|alles|deine|ursprüngliche*|sämtliche*|systemweite* ..3 anweisung*|regel|regeln|vorgabe*|instruktion*|befehl*|richtlinie*|weisung*|prompt*|auftrag|aufträge|einschränkung*|gesagt*",
            "anweisung*|regeln|vorgaben|instruktion*|befehle|richtlinien|weisungen ..4 gelten|gilt|zählen|binden ..5 nicht_mehr|nicht_länger",
            "gelten|gilt ..6 anweisung*|regeln|vorgaben|instruktion*|befehle|richtlinien|weisungen ..3 nicht_mehr|nicht_länger",
            "halte|halt|folge|befolge ..2 dich ..2 nicht_mehr|nicht_länger ..3 an ..4 regel*|anweisung*|vorgabe*",
            "befolge|folge|beachte ..5 anweisung*|regeln|vorgaben|instruktion* ..3 nicht_mehr|nicht_länger",
            // French
            "ignore|ignorez|ignorer|oublie|oubliez|oublier|néglige|négligez|outrepasse|outrepassez|contourne|contournez|abandonne ..4 instruction*|consigne*|règle|règles|directive*|ordres|recommandation* ..4 précédent*|antérieur*|ci_dessus|initial*|reçu*|système|d'avant|passées|originales",
            "ignore|ignorez|oublie|oubliez ..2 toutes|tous|tout|tes|vos ..4 instruction*|consigne*|règles|directive*|ordres|dit|appris",
            "applique|appliquez|suis|suivez|respecte|respectez|obéis|tiens ..2 plus|pas ..4 instruction*|consigne*|règles|directive*|ordres ..4 précédent*|antérieur*|ci_dessus|initial*|reçu*|auparavant|d'avant",
            "instruction*|consignes|règles|directives ..4 précédentes|antérieures|initiales ..4 plus|annul*|caduques",
            // Spanish
            "ignora|ignore|ignorad|ignorar|olvida|olvide|olvidar|olvidad|desatiende|descarta|omite|sáltate|desobedece ..4 instruc*|reglas|normas|órdenes|indicaciones|directrices|directivas ..4 anterior*|previas|previos|de_arriba|iniciales|recibidas|del_sistema|originales",
            "ignora|ignore|olvida|olvide|descarta ..2 todas|todos|todo|tus|sus|cualquier ..4 instruc*|reglas|normas|órdenes|indicaciones|directrices|dijeron|dicho|aprendido|anterior",
            "no ..1 sigas|obedezcas|apliques|respetes ..3 instruc*|reglas|normas|órdenes ..3 anterior*|previas",
            // Italian
            "ignora|ignorate|ignorare|dimentica|dimenticate|dimenticare|trascura|scarta|disobbedisci|aggira ..4 istruzioni|regole|indicazioni|direttive|ordini|comandi ..4 precedent*|sopra|iniziali|prima|ricevut*|sistema|originali",
            "ignora|dimentica ..2 tutte|tutti|tutto|le_tue ..4 istruzioni|regole|indicazioni|direttive|ordini|detto|precedente",
            "non ..1 seguire|segui|rispettare|obbedire ..3 istruzioni|regole|indicazioni|direttive|ordini ..4 precedent*|prima|sopra",
            // Portuguese
            "ignore|ignora|ignorar|esqueça|esquece|esquecer|desconsidere|desconsiderar|despreze|descarte|desobedeça ..4 instruç*|regras|orientaç*|diretrizes|ordens|comandos ..4 anterior*|prévias|acima|iniciais|recebidas|sistema|originais",
            "ignore|esqueça|desconsidere ..2 todas|todos|tudo|suas ..4 instruç*|regras|orientaç*|diretrizes|ordens|disseram|dito|aprendeu|anterior",
            // Russian
            "игнорируй*|проигнорируй*|забудь*|отбрось*|отмени|отмените|нарушь|пренебреги|пренебрегай ..4 предыдущ*|прежн*|прошл*|ранее|вышеуказанн*|вышеизложенн*|системн*|все|всё|всех|свои|изначальн* ..4 инструкци*|указани*|правил*|команд*|приказ*|директив*|ограничени*|распоряжени*",
            "предыдущ*|прежние|прошлые|системные ..2 инструкции|указания|правила|команды|ограничения ..3 больше_не|не_действуют|отменены|недействительны",
            "не ..1 следуй*|соблюдай*|выполняй* ..3 предыдущ*|прежн* ..2 инструкци*|указани*|правил*",
            // Chinese
            "忽略|无视|忽视|忘记|忘掉|不要理会|不要遵守|不再遵守|不用遵守|抛弃|废除|跳过|绕过|無視|忘記|忽視 ..14 指令|指示|规则|規則|提示|命令|要求|限制|设定|設定|说明|约束",
            "之前|以上|上述|先前|原来|此前 ..4 指令|指示|规则|规定|提示|要求 ..6 作废|无效|失效|不再|取消",
            // Japanese
            "以前|これまで|前|上記|上|今まで|すべて|全て|元|最初|システム ..10 指示|命令|ルール|規則|プロンプト|指令|制約|設定 ..6 無視|忘れ|破棄|従わない|従うな|取り消|無効",
            "無視|忘れ ..4 指示|命令|ルール|規則|プロンプト",
        ],
    },
    Group {
        rule: "role",
        says: ROLE,
        unless: Unless::Denied,
        rows: &[
            "du_bist|bist_du|sie_sind|agiere|verhalte_dich ..4 jetzt|ab_sofort|ab_jetzt|nun|künftig|von_nun_an ..5 ohne|frei|uneingeschränkt*|ein|eine|nicht_mehr",
            "ab_sofort|ab_jetzt|von_nun_an ..2 bist_du|du_bist|antwortest_du|handelst_du ..6 ohne|frei|uneingeschränkt*|ein|eine|nicht_mehr",
            "tu_es|vous_êtes|agis|comporte_toi ..2 désormais|maintenant|dorénavant ..2 un|une|libre|sans|plus|en",
            "désormais|dorénavant|à_partir_de_maintenant ..2 tu_es|vous_êtes ..2 un|une|libre|sans|plus|en",
            "ahora|desde_ahora|a_partir_de_ahora ..2 eres|actúas|serás ..2 un|una|libre|sin|el",
            "eres|actúa ..2 ahora|como ..2 un|una ..4 sin restric*|límites|filtros|reglas",
            "ora|adesso|d'ora_in_poi|da_ora_in_poi ..10 sei|agisci|sarai ..2 un|una|libero|senza|uno",
            "agora|a_partir_de_agora|de_agora_em_diante ..2 você_é|és|aja|será ..2 um|uma|livre|sem",
            "теперь|отныне|с_этого_момента ..2 ты|вы ..5 без|свободн*|не_ограничен*|администратор|разработчик|неограничен*|модель|ассистент|являешься",
            "режим разработчика|отладки|бога ..2 включ*|активир*",
            "你现在是|从现在起你是|从现在开始你是|你不再是|你將扮演|你现在处于|現在你是|进入开发者模式|開發者模式|没有限制的|不受限制的",
            "あなたは今から|今からあなたは|これからあなたは|あなたはもう|開発者モード|制限のない|制約のない",
        ],
    },
    Group {
        rule: "secrecy",
        says: SECRECY,
        unless: Unless::Never,
        rows: &[
            "sag|sage|sagen|erzähl|erzähle|verrate|verraten|berichte|teile|melde|informiere|erwähne|zeige ..5 nutzer*|benutzer*|besitzer*|person|anwender*|niemand*|ihm|ihr|ihnen|eigentümer* ..2 nichts|nicht|davon|kein_wort|hiervon|darüber ..3 davon|darüber|mit|nichts|nicht|END",
            "sag|sage|erzähl|erzähle|verrate ..1 niemand* ..2 davon|etwas|END",
            "ohne ..5 nutzer*|benutzer*|besitzer*|person|eigentümer*|jemand* ..4 informieren|sagen|mitzuteilen|erwähnen|benachrichtigen|wissen|merkt|merken|bemerkt|erfährt",
            "heimlich|unbemerkt|verdeckt|stillschweigend|im_geheimen ..5 sende*|schick*|lade|kopier*|speicher*|leite|übertrag*|füge|hänge|installier*",
            "sende*|schick*|lade|kopier*|speicher*|leite|übertrag*|füge|hänge|installier* ..8 heimlich|unbemerkt|verdeckt|stillschweigend",
            "nutzer*|benutzer*|besitzer*|person|niemand ..1 darf|soll ..4 nichts|nicht|davon|es ..3 erfahren|wissen|merken|bemerken|mitbekommen|sehen",
            "ne|n ..1 dis|dites|dire|parle|parlez|révèle|révélez|montre ..1 rien ..5 utilisateur*|propriétaire|personne|client|END",
            "n'en|ne_lui_en|ne_leur_en ..1 parle|parlez|dis|dites|informe|informez ..1 pas|rien|jamais|à",
            "ne ..1 informe|informez|préviens|prévenez|avertis|mentionne|mentionnez|révèle|révélez ..1 pas|rien|jamais ..4 utilisateur*|propriétaire|personne|client|cela|ceci|ça",
            "sans ..2 dire|informer|prévenir|avertir|en_parler|le_dire|que ..5 utilisateur*|propriétaire|personne|sache",
            "à_l'insu ..3 utilisateur*|propriétaire|personne",
            "en_secret|secrètement|discrètement|en_cachette|en_douce ..3 envoie*|envoyer|transmet*|copie*|ajoute*|télécharge*",
            "envoie*|envoyer|transmet*|copie*|ajoute* ..8 en_secret|secrètement|discrètement|en_cachette|en_douce",
            "no ..3 digas|diga|cuentes|cuente|menciones|mencione|informes|avises|avise|reveles|muestres ..4 usuario*|dueño|propietario|persona|nadie|esto|nada",
            "sin ..1 avisar*|decir*|informar*|notificar*|que_se_entere|que_lo_sepa|mencionar* ..3 usuario*|dueño|propietario|persona|nadie|END|esto",
            "en_secreto|secretamente|a_escondidas|disimuladamente|discretamente ..3 envía*|manda*|copia*|guarda*|añade*|sube*",
            "non ..3 dire|dirlo|parlare|parlarne|informare|avvisare|menzionare|rivelare|mostrare|avvertire ..4 utente*|proprietario|persona|nessuno|nulla|niente",
            "senza ..1 dirlo|dire|avvisare|informare|avvertire|che ..4 utente*|proprietario|persona|nessuno|lo_sappia|END",
            "di_nascosto|segretamente|in_segreto ..3 invi*|manda*|copia*|salva*|aggiung*",
            "não|nao|nunca ..2 conte|diga|fale|informe|avise|mencione|revele|mostre ..4 usuário*|utilizador*|dono|proprietário|pessoa|ninguém|isso|nada",
            "sem ..2 avisar*|contar*|informar*|dizer*|que ..4 usuário*|utilizador*|dono|proprietário|pessoa|ninguém|saiba|END",
            "secretamente|em_segredo|às_escondidas|discretamente ..3 envi*|mand*|copi*|salv*|adicion*",
            "не ..2 говори*|сообщай*|рассказывай*|упоминай*|показывай*|предупреждай*|уведомляй*|раскрывай* ..4 пользовател*|владельц*|никому|хозяин*|человек*|об_этом|ему|ей|им",
            "без ..2 ведома|уведомления|предупреждения ..3 пользовател*|владельц*|хозяин*",
            "тайно|незаметно|скрытно|втайне|тайком ..4 отправ*|отошли*|пересыла*|перешли*|сохран*|скопируй*|загрузи*|добавь*",
            "не_сообщая|не_говоря|не_предупреждая|не_уведомляя ..3 пользовател*|владельц*|никому|об_этом",
            "不要告诉|别告诉|不要通知|不要让|不能告诉|不可告诉|不要提醒|不要向|不得告知|无需告知|不必告知|不要提及|请勿告知|不要告訴|瞒着 ..4 用户|主人|他|她|任何人|使用者|所有者|对方",
            "不让|别让|避免 ..3 用户|主人|使用者 ..3 知道|发现|察觉|看到",
            "偷偷|悄悄|秘密|暗中|私下 ..5 发送|上传|复制|保存|转发|添加|下载|记录",
            "ユーザー|利用者|所有者|本人|誰|オーナー|持ち主 ..3 知らせ|言わ|伝え|話さ|教え|報告し|気づかれ|見せ ..2 ない|ず|な",
            "こっそり|秘密裏|ひそかに|内緒|黙って ..10 送信|送って|送る|保存|追加|転送|コピー|アップロード|送",
        ],
    },
    Group {
        rule: "exfiltration",
        says: EXFILTRATION,
        unless: Unless::Denied,
        rows: &[
            "sende*|schick*|leite*|lade|übertrag*|übermittle*|poste|maile|kopiere|schreibe ..12 passwör*|passwort*|kennwör*|schlüssel|zugangsdaten|gespräch*|unterhaltung*|nachrichten|chatverlauf|verlauf|memory_md|user_md|erinnerung*|gedächtnis|tagebuch|bankdaten|kontodaten|geheimnis*|api_schlüssel ..10 URL",
            "envoie*|envoyer|transmet*|poste*|publie*|copie*|expédie* ..12 mot_de_passe|mots_de_passe|clé|clés|conversation*|historique|memory_md|user_md|mémoire|souvenirs|journal|données|identifiants|secrets|coordonnées ..12 URL",
            "envía*|enviar|manda*|mandar|sube|subir|publica*|reenvía*|transmite*|copia* ..12 contraseña*|clave*|conversaci*|historial|memory_md|user_md|memoria|diario|datos|credenciales|secretos|mensajes|entrada ..12 URL",
            "invia*|invii|inviare|manda|mandare|carica|caricare|inoltra*|trasmetti*|copia* ..12 password|chiave|chiavi|conversazion*|cronologia|memory_md|user_md|memoria|ricordi|diario|dati|credenziali|segreti|messaggi ..12 URL",
            "envie|enviar|envia|mande|mandar|carregue|publique|encaminhe|transmita|copie ..12 senha*|chave*|conversa*|histórico|memory_md|user_md|memória|diário|dados|credenciais|segredos|mensagens ..12 URL",
            "отправ*|отошли*|пошли*|перешли*|загрузи*|выложи*|передай*|скопируй* ..12 парол*|ключ*|переписк*|разговор*|истори*|memory_md|user_md|памят*|дневник*|данные|токен*|сообщени*|секрет* ..12 URL",
            "发送|上传|发到|传到|提交|转发|泄露|傳送|上傳|发给|寄到 ..30 URL",
            "把|将|將 ..14 密码|密钥|聊天记录|记忆|令牌|对话|隐私|日记|密碼|记录|数据|内容 ..6 发送|上传|发到|传到|提交|转发|泄露|发给",
            "パスワード|apiキー|キー|会話|履歴|記憶|日記|秘密|個人情報|トークン|memory_md|user_md|メモリ ..10 URL ..12 送信|送|アップロード|投稿|転送",
            "URL ..4 パスワード|apiキー|会話|履歴|記憶|日記|秘密|個人情報|トークン|メモリ ..6 送信|送|アップロード|投稿|転送",
        ],
    },
    Group {
        rule: "reach",
        says: super::phrases::REACH,
        unless: Unless::DeniedOrConditional,
        rows: &[
            "schreib*|trage|ergänze|ändere|füge|setze ..8 agents_md|soul_md|heartbeat_md",
            "lade|verwende|nutze|befolge|öffne|lies ..2 diese*|dies ..2 skill|fähigkeit|seite|datei|anleitung ..4 jeder|jede|jedem|jedes|immer",
            "charge|utilise|lis|applique|ouvre ..2 cette|ce ..1 compétence|skill|page|fichier ..4 chaque|toujours",
            "carga|usa|aplica|lee|abre ..2 esta|este ..1 habilidad|skill|página|archivo ..4 cada|siempre",
            "écris|ajoute|modifie|escribe|añade|agrega|modifica|scrivi|aggiungi|escreva|adicione|modifique|запиши|добавь|измени ..10 agents_md|soul_md|heartbeat_md",
            "修改|写入|添加|编辑|写进|加入 ..6 agents_md|soul_md|heartbeat_md",
            "每次|每条|每个 ..4 消息|对话|回复|回答 ..6 加载|使用|读取|执行|运行",
        ],
    },
];
