### Español, de tú.

language-name = Español
language-in-english = Spanish

## Times

day-and-time = { $weekday ->
    [1] lunes
    [2] martes
    [3] miércoles
    [4] jueves
    [5] viernes
    [6] sábado
   *[7] domingo
}, { $day } de { $month ->
    [1] enero
    [2] febrero
    [3] marzo
    [4] abril
    [5] mayo
    [6] junio
    [7] julio
    [8] agosto
    [9] septiembre
    [10] octubre
    [11] noviembre
   *[12] diciembre
} de { $year }, { $time }
span-seconds = { $count ->
    [one] 1 segundo
   *[other] { $count } segundos
}
span-minutes = { $count ->
    [one] 1 minuto
   *[other] { $count } minutos
}
span-hours = { $count ->
    [one] 1 hora
   *[other] { $count } horas
}
span-days = { $count ->
    [one] 1 día
   *[other] { $count } días
}

## Strangers, and people who come in

bot-description = Un asistente privado: responde, recuerda y avisa. Si te han dado un código, pulsa Iniciar y envíalo así: /start CODE
stranger = Este es un asistente privado. Si te han dado un código, envíalo así: /start CODE
code-refused = Ese código no es válido. Puede que ya se haya usado o que haya caducado; pide uno nuevo.
code-too-many = Demasiados códigos incorrectos por hoy. Vuelve a intentarlo mañana.
welcome = Te doy la bienvenida, { $name }. Ya tienes acceso como { $role ->
    [owner] propietario
   *[member] miembro
}. Soy { $agent }: escríbeme sin más. /help muestra qué más hay.
greeting = Tienes acceso, { $name }. Soy { $agent }: escríbeme sin más. /help muestra qué más hay.
role-raised = Ahora eres { $role ->
    [owner] propietario
   *[member] miembro
}.
join-as-less = Ese código es de una persona que no es propietaria. No lo he usado: todo lo que me has contado habría pasado a ser suyo.
join-in-configuration = Esta dirección está en la configuración. Para vincularla a otra persona, cámbiala allí.
join-later = Todavía te estoy respondiendo aquí. Envía el código otra vez cuando haya terminado.
join-means = Este código te vincula a { $name }: todo lo que me digas aquí será de { $name }, que podrá leerlo, y también lo que dijiste antes si esta es tu única dirección. Desde entonces tendrás acceso como { $name }. Si eres { $name }, envía el código una vez más. Si alguien te ha pedido que lo escribas, no lo hagas.
joined = Desde ahora también aquí eres { $name }, con una sola conversación escribas desde donde escribas.

## Messages that cannot be taken, and groups

unsupported = Todavía no puedo recibir { $kind ->
    [contact] un contacto
    [place] un lugar
    [location] una ubicación
    [poll] una encuesta
    [dice] un dado
    [game] un juego
    [invoice] una factura
    [story] una historia
    [checklist] una lista de tareas
    [paid-media] contenido de pago
    [giveaway] un sorteo
    [gift] un regalo
    [passport] un documento de identidad
    [sticker] un sticker
    [photo] esta foto
    [payment] un pago
    [missing-file] un archivo que no llegó con su mensaje
   *[unknown] algo que los bots no pueden ver
}. Envíalo como texto, foto, nota de voz o archivo.
message-too-long = Tu mensaje tiene { $characters } caracteres, y puedo leer { $most } de una vez. Está guardado, pero sin respuesta; envíalo por partes o como archivo.
queue-full = Ya tienes muchísimos mensajes en espera. Este lo he dejado sin responder; espera a que me ponga al día.
group-begins-anew = El próximo mensaje de aquí empieza una conversación nueva.
group-owner-forgets = Solo un propietario puede borrar aquí los mensajes de todos. Sin la palabra `messages` olvido lo que se guarda para este grupo; tus propios mensajes puedes borrarlos en el grupo.
group-answered-in-private = Lo he respondido en nuestro chat directo.
group-write-first = Eso solo lo respondo en nuestro chat directo. Escríbeme primero allí.
group-only-here = Lo que acabas de escribir en un grupo solo vale aquí, en nuestro chat directo. Dilo aquí si era tu intención.

## Deliveries

delivery-given-up = Algunos de mis mensajes no se han podido entregar aquí durante más de una semana, así que los he dado por perdidos. Mis respuestas están guardadas: pídeme las que te falten.
delivery-set-aside = Un mensaje mío no se ha podido entregar aquí, aunque otros sí. Lo he apartado para que el resto siga; /resend lo intenta de nuevo.
delivery-set-aside-in-group = Un mensaje mío no se ha podido entregar aquí, aunque otros sí. Lo he apartado para que el resto siga; un propietario puede enviarlo de nuevo con /resend.

## Questions before something leaves

may-i = ¿Puedo hacer estas { $count } cosas?
may-i-agree = Envía /yes { $question } antes de { $minutes } minutos si estás de acuerdo; cualquier otra cosa significa no.
may-i-agree-to-all = Envía /yes { $question } antes de { $minutes } minutos si estás de acuerdo con todas; cualquier otra cosa significa no.
may-last = /yes { $question } 10 vale para diez llamadas así, /yes { $question } new para todas hasta /new: solo de esta herramienta, en las que solo cambien palabras, horas y límites, y no más cuando entre otra cosa de fuera. /trust off lo retira.
may-i-open = ¿Abro esta dirección de `{ $host }`, y ninguna otra? Aquí no la ha escrito nadie.
may-i-open-it = ¿Abro esta dirección?
may-i-send = ¿Envío esto a la herramienta { $tool } de { $server }?
may-i-use = ¿Uso { $tool } con esto?
may-i-remind = ¿Te recuerdo { $words } { $when }?
may-i-schedule = ¿Hago { $words } por mi cuenta, { $when }?
may-i-cancel = ¿Cancelo { $kind ->
    [task] la tarea
   *[reminder] el recordatorio
} "{ $words }" { $when }?
may-i-cancel-this = ¿Cancelo { $kind ->
    [task] esta tarea
   *[reminder] este recordatorio
} { $when }?
may-i-change = ¿Cambio { $kind ->
    [task] la tarea
   *[reminder] el recordatorio
} "{ $words }" { $when } para que llegue { $then }?
may-i-change-this = ¿Cambio { $kind ->
    [task] la tarea
   *[reminder] el recordatorio
} { $when } por esto, para que llegue { $then }?
may-i-tick = ¿Marco "{ $words }" en tu HEARTBEAT.md?
may-i-tick-this = ¿Marco este punto en tu HEARTBEAT.md?
question-this = esto
question-on-day = el { $when }
question-of-day = del { $when }
question-that-comes = (llega { $when })
question-again = repetidamente, según el horario `{ $cron }` (próxima vez { $next })
question-again-until = repetidamente, según el horario `{ $cron }` hasta { $until } (próxima vez { $next })
question-words-now = ahora
question-words-then = después
question-unnamed = { $skills ->
    [one] La habilidad cargada ({ $loaded }) no nombra { $names }.
   *[other] Ninguna de las habilidades cargadas ({ $loaded }) nombra { $names }.
}
question-or = ni
reason-destination = Un sí vale para ese destino hasta /new.
reason-outside = Pregunto porque he leído texto de fuera ({ $sources }).
reason-skill = Pregunto porque uso una habilidad de otra persona.
reason-sent = Pregunto porque he leído lo que enviaste.
way-out-new = /new empieza sin ese texto.
way-out-trust = /new empieza sin ese texto, y con /trust puedes responder por lo que enviaste.
used-under-yes = He usado { $tool } { $calls ->
    [one] con tu permiso
   *[other] { $calls } veces con tu permiso
}; { $left }.
used-until-new = vale hasta /new
used-asks-again = desde ahora vuelvo a preguntar
used-left = quedan { $left } sin preguntar
source = { $kind ->
    [web] texto de la web, { $detail }
    [file] el contenido de un archivo
    [forward] texto reenviado de otra persona
    [quote] una cita de otra persona
    [preview] la vista previa de una página web
    [contact] una tarjeta de contacto
    [poll] una encuesta
    [location] un lugar del mapa
    [restored] un archivo encontrado tras una restauración
    [via_bot] palabras que escribió otro bot
    [stdin] texto de la entrada estándar
    [tool] salida de la herramienta externa { $detail }
    [guest] las palabras del invitado { $detail }
    [stranger] el nombre que se dio una persona desconocida
    [import] algo traído de otro lugar
    [folder] un archivo de la carpeta de habilidades
   *[unknown] texto de origen desconocido
}
button-yes = Sí
button-yes-ten = Sí, 10 veces
button-yes-until-new = Sí, hasta /new
button-no = No

## Answers to questions

goes-on = De acuerdo, lo hago.
left-alone = De acuerdo, no lo hago.
question-over = Esa pregunta ya está cerrada, así que no ha pasado nada. Pregúntame otra vez si todavía importa.
yes-already = A eso ya dijiste que sí. Contó; ahora no ha cambiado nada.
no-such-question = No te he hecho ninguna pregunta con ese número.

## What is kept

keep-this = **¿Lo recuerdo?** Iba a recordar lo siguiente, pero en ello intervinieron palabras de fuera ({ $sources }). Está en `{ $path }`, y no lo leo si no me lo pides.
keep-instead-of = Sustituye a «{ $old }».
keep-how = `/yes { $question }` hace tuyas exactamente estas palabras: cuentan como si me las hubieras dicho. `/no { $question }` las deja donde están. Tiempo para responder: { $time }.
keep-later-head = **¿Lo recuerdo?** Iba a recordar más cosas, pero en ellas intervinieron palabras de fuera, y son demasiado largas para mostrarlas aquí. No las leo si no me lo pides:
keep-later = - `{ $path }`: `/promote { $name }` lo muestra
keep-waits = { $path } todavía no es tuyo: los archivos de la memoria no se pueden escribir ahora mismo. Lo será en cuanto se pueda; no tienes que hacer nada. `compline doctor` dice qué falla.
keep-stuck = No he podido hacer tuyo { $path }: los archivos de la memoria no se pueden escribir ahora mismo. `compline doctor` dice qué falla; /memory muestra lo que hay, y /promote lo intenta de nuevo.
keep-changed = No se ha recordado nada: lo que hay allí ahora no es lo que se te mostró. /memory enumera lo que vino de fuera, y /promote lo muestra.
promoted = Hecho: { $path } ya es tuyo. { $then }
promoted-instead = Hecho: { $path } ya es tuyo, en lugar de «{ $old }». { $then }
memory-read = Lo sé desde el próximo mensaje.
memory-unread = La memoria está desactivada, así que no lo leo si no me lo pides.
keep-left = Se queda donde está, y no lo leo si no me lo pides.
button-keep = Recordarlo
button-leave = Dejarlo

## Settings

settings = - idioma: { $language } (`/settings language CODE`: { $codes })
    - zona horaria: { $zone }, donde son las { $time } (`/settings timezone ZONA/CIUDAD`)

    `auto` en lugar de un valor retira tu elección.
settings-button = { $command ->
    [whoami] Mi cuenta
    [link] Otro dispositivo
    [usage] Uso
   *[export] Mis datos
}
language-chosen = Desde ahora te escribo en { $language }.
zone-chosen = Tu zona horaria es ahora { $zone }; allí son las { $time }.
no-such-language = No conozco el idioma { $word }. Conozco: { $known }.
no-such-zone = No conozco la zona horaria { $word }. Escríbela como Zona/Ciudad, por ejemplo Europe/Vienna.
no-such-zone-near = No conozco la zona horaria { $word }. ¿Querías decir { $near }?

## Turns without an ordinary answer

answer-empty = (No se me ha ocurrido nada que decir. Pregunta otra vez con otras palabras.)
answer-cut = _(La respuesta ha llegado al límite de longitud y termina aquí. Escribe "sigue" para el resto.)_
answer-strange-address = _(Cuidado: una dirección con [.] no aparece en nada que hayáis escrito tú o una fuente. La he cambiado para que no se pueda tocar; no la abras si no la conoces.)_
answer-late = _Esto responde a lo que escribiste el { $said }, hace { $delay }; ha tenido que esperar hasta ahora._
answer-late-away = _No estaba, así que esto responde a lo que escribiste el { $said }, hace { $delay }._
model-refused = El proveedor del modelo se ha negado a responder a eso.
model-too-long = Eso es más de lo que el modelo puede leer de una vez. Envía menos, o empieza una conversación nueva con /new.
model-bad-key = El proveedor del modelo rechaza nuestra clave.
model-no-credit = La cuenta del proveedor del modelo ya no tiene saldo.
model-rejected = El proveedor del modelo rechaza nuestra petición.
model-unreachable = Ahora mismo no se puede contactar con el modelo.
model-away = { $why } Tu mensaje está guardado, y responderé en cuanto pueda. (turno { $turn })
model-still-away = { $why } Sin respuestas desde { $since }. Mensajes en espera: { $waiting }. Responderé en cuanto pueda.
model-away-too-long = { $why } Lo he intentado durante un día entero y lo he dejado. Pregunta otra vez cuando esté arreglado.
turn-cut-off = Me han interrumpido varias veces mientras lo hacía, así que lo he dejado. Pregunta otra vez, quizá de otra manera; los detalles están en el registro.
turn-too-long = Lo he dejado porque la respuesta ha tardado más de { $limit }. Pregunta otra vez, quizá por menos a la vez.
files-unreadable = No puedo leer { $names }, así que respondo sin lo que dice. `/memory history NAME` muestra versiones anteriores y cómo recuperar una.
messages-too-old = { $count ->
    [one] Un mensaje tuyo ha esperado más de un día. Lo he dejado sin responder; envíalo otra vez si todavía importa.
   *[other] { $count } mensajes tuyos han esperado más de un día. Los he dejado sin responder; envía otra vez lo que todavía importe.
}
messages-too-old-away = { $count ->
    [one] Un mensaje tuyo ha esperado más de un día mientras yo no estaba. Lo he dejado sin responder; envíalo otra vez si todavía importa.
   *[other] { $count } mensajes tuyos han esperado más de un día mientras yo no estaba. Los he dejado sin responder; envía otra vez lo que todavía importe.
}
was-away = No he estado ({ $absence }); pueden faltar mensajes anteriores. Envía otra vez lo que no haya respondido.

## Commands

help = Escríbeme sin más. También hay:
command-unknown = No conozco el comando /{ $name }. /help los muestra todos.
command-unknown-near = No conozco el comando /{ $name }. ¿Querías decir /{ $near }? /help los muestra todos.
command-usage = Escríbelo así: { $form }
command-owner-only = Eso solo puede hacerlo un propietario.
command-direct-only = Eso solo lo respondo en nuestro chat directo.
command-failed = No ha funcionado, y no sé por qué. Los detalles están en el registro; no se ha cambiado nada.
command-no-room = No se ha podido hacer: no se puede escribir nada, porque el disco está lleno o se ha alcanzado un límite. Libera espacio (`df -h` muestra cuánto hay) e inténtalo otra vez.
command-quarantined = Ese comando ha fallado tres veces, así que no lo intento más; los detalles están en el registro.
new-conversation = Hecho. Tu próximo mensaje empieza una conversación nueva; lo importante de esta se está anotando.
stopped = Detenido.
nothing-runs = No hay nada en marcha.

## Descriptions of commands; the English ones stand in the table of commands

does-start = Saludar al asistente
does-help = Listar los comandos
does-new = Empezar una conversación
does-stop = Detener la respuesta
does-yes = Responder sí a una pregunta
does-no = Responder no a una pregunta
does-status = Mostrar estado y presupuesto
does-usage = Mostrar uso y coste
does-resend = Repetir envíos fallidos
does-memory = Mostrar y buscar en la memoria
does-remember = Recordar un texto literal
does-promote = Confiar en una nota de fuera
does-trust = Confiar en lo que enviaste
does-reminders = Mostrar o cancelar recordatorios
does-forget = Borrar una nota o un dato
does-why = Mostrar el origen de algo
does-conversations = Mostrar conversaciones
does-export = Exportar todos tus datos
does-settings = Cambiar idioma y zona horaria
does-whoami = Mostrar rol y direcciones
does-web = Abrir la página
does-link = Vincular otra dirección
does-heartbeat = Mostrar o cambiar revisiones
does-pending = Mostrar lo que te espera
does-show = Mostrar una propuesta entera
does-approve = Aprobar una propuesta
does-reject = Rechazar una propuesta
does-skills = Mostrar o aceptar habilidades
does-history = Mostrar versiones de una habilidad
does-rollback = Restaurar una versión anterior
does-reflect = Repasar un periodo
does-reflections = Mostrar repasos
does-search = Buscar en todo
does-model = Mostrar modelos o preferir uno
does-people = Mostrar y gestionar personas
does-pair = Crear un código
does-remove = Quitar el acceso a una persona

## The page

web-link = { $link } abre la sesión de un navegador como { $name }. Vale una vez y durante dos minutos; no se lo des a nadie.
web-only-on-the-computer = La página solo se abre en el ordenador en el que funciono: allí `compline web` crea un enlace.
