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

today = hoy
tomorrow = mañana
yesterday = ayer
weekday = { $weekday ->
    [1] lunes
    [2] martes
    [3] miércoles
    [4] jueves
    [5] viernes
    [6] sábado
   *[7] domingo
}
near-time = { $day } { $time }
far-time = { $day }, { $time }
short-day = { $weekday ->
    [1] lun
    [2] mar
    [3] mié
    [4] jue
    [5] vie
    [6] sáb
   *[7] dom
} { $day } { $month ->
    [1] ene
    [2] feb
    [3] mar
    [4] abr
    [5] may
    [6] jun
    [7] jul
    [8] ago
    [9] sept
    [10] oct
    [11] nov
   *[12] dic
}
day-of-year = { $day } { $year }

## Numbers

digit-separator = .
decimal-sign = ,

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
may-i-agree-own = Responde sí, o envía /yes { $question }, en el plazo de un día si estás de acuerdo.
may-i-agree-to-all-own = Responde sí, o envía /yes { $question }, en el plazo de un día si estás de acuerdo con todas.
may-last = /yes { $question } 10 vale para diez llamadas así, /yes { $question } new para todas hasta /new: solo de esta herramienta, con exactamente estos datos, y no más cuando entre otra cosa de fuera. /trust off lo retira.
may-last-varying = Con vary detrás (/yes { $question } 10 vary, /yes { $question } new vary) vale para esas llamadas: { $differ }, y nada más, como texto sin direcciones, rutas ni números a los que algo pueda ir.
may-differ = { $names } puede cambiar
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
which-yes = Pulsa *Sí* debajo de la pregunta a la que te refieres o envía { $commands }.
may-i-take-away = ¿Cambio `{ $path }`? Desaparecen líneas tuyas (−).
may-i-change = ¿Cambio { $kind ->
    [task] la tarea
   *[reminder] el recordatorio
} "{ $words }" { $when } para que llegue { $then }?
may-i-change-this = ¿Cambio { $kind ->
    [task] la tarea
   *[reminder] el recordatorio
} { $when } por esto, para que llegue { $then }?
may-i-close = ¿Cierro el asunto pendiente "{ $words }"?
may-i-close-this = ¿Cierro este asunto pendiente?
may-i-tick = ¿Marco "{ $words }" en tu HEARTBEAT.md?
may-i-tick-this = ¿Marco este punto en tu HEARTBEAT.md?
question-this = esto
question-on-day = el { $when }
question-of-day = del { $when }
question-that-comes = (llega { $when })
question-again = { $recurrence } (próxima vez { $next })
question-again-until = { $recurrence }, hasta { $until } (próxima vez { $next })
recurs-as = repetidamente, según el horario `{ $cron }`
recurs-hourly = cada hora en el minuto { $minute }
recurs-daily = cada día a las { $times }
recurs-on-workdays = de lunes a viernes a las { $times }
recurs-weekly = cada { $days } a las { $times }
recurs-monthly = el día { $day } de cada mes a las { $times }
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
    [pasted] texto pegado
    [tool] salida de la herramienta externa { $detail }
    [guest] las palabras del invitado { $detail }
    [stranger] el nombre que se dio una persona desconocida
    [import] algo traído de otro lugar
    [folder] un archivo de la carpeta de habilidades
   *[unknown] texto de origen desconocido
}
# Lower case, without punctuation, separated by commas: what a person types for yes.
typed-yes = sí, si, sí por favor, si por favor, s, claro, claro que sí, vale, de acuerdo, ok, okay, hazlo
button-yes = Sí
button-yes-ten = Sí, 10 veces igual
button-yes-until-new = Sí, igual hasta /new
button-yes-ten-varying = 10×, { $names } libre
button-no = No

## Answers to questions

goes-on = De acuerdo, lo hago.
left-alone = De acuerdo, no lo hago.
question-over = Esa pregunta ya está cerrada, así que no ha pasado nada. Pregúntame otra vez si todavía importa.
yes-already = A eso ya dijiste que sí. Contó; ahora no ha cambiado nada.
no-such-question = No te he hecho ninguna pregunta con ese número.

## What is kept

keep-this = **¿Lo recuerdo?** Iba a recordar lo siguiente, pero en ello intervinieron palabras de fuera ({ $sources }). Mientras no digas que sí, solo lo leo si me lo pides.
keep-this-file = **¿Se queda esto en `{ $path }`?** Estas líneas están en el archivo, y en ellas intervinieron palabras de fuera ({ $sources }). Mientras no digas que sí, cuentan como de fuera.
keep-instead-of = Sustituye a «{ $old }».
keep-how = `/yes { $question }` hace tuyas exactamente estas palabras: cuentan como si me las hubieras dicho. `/no { $question }` las deja donde están. Tiempo para responder: { $time }.
keep-later-head = **¿Lo recuerdo?** Iba a recordar más cosas, pero en ellas intervinieron palabras de fuera, y son demasiado largas para mostrarlas aquí. No las leo si no me lo pides:
keep-later = - `{ $path }`: `/promote { $name }` lo muestra
keep-waits = { $path } todavía no es tuyo: los archivos de la memoria no se pueden escribir ahora mismo. Lo será en cuanto se pueda; no tienes que hacer nada. `compline doctor` dice qué falla.
keep-stuck = No he podido hacer tuyo { $path }: los archivos de la memoria no se pueden escribir ahora mismo. `compline doctor` dice qué falla; /memory muestra lo que hay, y /promote lo intenta de nuevo.
keep-changed = No se ha recordado nada: lo que hay allí ahora no es lo que se te mostró. /memory enumera lo que vino de fuera, y /promote lo muestra.
agent-memories = Lo que agentes y perfiles han aprendido de ti. Lo activado se recuerda solo; lo desactivado sigue guardado, y tu búsqueda lo encuentra.
agent-memories-none = Ningún otro agente o perfil ha aprendido nada de ti.
agent-memory = { $state ->
    [own] - **{ $name }**, { $size }: en uso
    [on] - **{ $name }**, { $size }: activado
   *[off] - **{ $name }**, { $size }: desactivado
}
agent-memory-how = `{ $command }` cambia uno.
agent-memory-unknown = Ningún otro agente o perfil se llama { $name }. `{ $list }` los muestra.
agent-memory-own = { $name } está en uso, así que lo que ha aprendido siempre se recuerda.
agent-memory-switched = { $on ->
    [yes] Lo que ha aprendido { $name } se recuerda desde ahora.
   *[no] Lo que ha aprendido { $name } ya no se recuerda. Sigue guardado, y tu búsqueda lo encuentra.
}
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
answer-only-thoughts = (He pensado hasta agotar el límite de una respuesta y no he escrito nada. Pregunta en pasos más pequeños; un propietario puede aumentar `max_output`.)
answer-broke-off = _(La respuesta se ha interrumpido aquí. Escribe "sigue" para el resto.)_
answer-strange-address = _(Cuidado: una dirección con [.] no aparece en nada que hayáis escrito tú o una fuente. La he cambiado para que no se pueda tocar; no la abras si no la conoces.)_
answer-late = _Esto responde a lo que escribiste hace { $delay } ({ $said }); ha tenido que esperar hasta ahora._
answer-late-away = _No estaba, así que esto responde a lo que escribiste hace { $delay } ({ $said })._
model-refused = El proveedor del modelo se ha negado a responder a eso.
model-too-long = Eso es más de lo que el modelo puede leer de una vez. Envía menos, o empieza una conversación nueva con /new.
model-bad-key = El proveedor del modelo rechaza nuestra clave.
model-no-credit = La cuenta del proveedor del modelo ya no tiene saldo.
model-rejected = El servidor del modelo rechaza esta petición, así que no puedo responderla. Un propietario ve el motivo con /status.
model-rejected-because = El servidor del modelo rechaza esta petición: `{ $why }`. Repetirla no servirá hasta que se corrija; `compline doctor` prueba el modelo por completo.
model-slow = El servidor del modelo es lento: ha callado tanto como permite `patience`. Cada vez espero más.
model-unreachable = Ahora mismo no se puede contactar con el modelo.
model-away = { $why } Tu mensaje está guardado, y responderé en cuanto pueda.
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

## Budgets

budget = { $which ->
    [person] tu parte del presupuesto de hoy
    [group] la parte de este grupo en el presupuesto de hoy
    [background] el presupuesto de hoy para el trabajo en segundo plano
    [reserve] la parte del presupuesto de hoy que no está reservada a los propietarios
   *[daily] el presupuesto de hoy
}
over-budget = No he respondido porque { $budget } se ha agotado. Se renueva a medianoche; un propietario puede aumentarlo en la configuración.
above-limit = No he respondido porque una sola respuesta puede necesitar más de lo que `{ $setting }` en [budget] permite para todo un día; esperar no sirve. Una conversación nueva (/new) necesita menos, y un propietario puede aumentar el límite en la configuración.
unheard-over-budget = No he escuchado tu nota de voz porque { $budget } se ha agotado. Se renueva a medianoche; un propietario puede aumentarlo en la configuración.
unheard-above-limit = No he escuchado tu nota de voz porque escucharla puede necesitar más de lo que `{ $setting }` en [budget] permite para todo un día; esperar no sirve. Una más corta necesita menos, y un propietario puede aumentar el límite en la configuración.

## Marks, files, and decisions in place of buttons

mark-repeated = (quizá repetido)
mark-closed = (ya cerrada)
mark-blank = (vacío)
file-changed = (El archivo { $name } se ha borrado o cambiado entretanto, así que no lo he enviado.)
file-not-taken = (El archivo { $name } no se puede enviar aquí. Está en la carpeta de trabajo: { $path })
decision-allowed = Permitido
decision-not-allowed = No permitido
decision-expired = Caducado
question-unanswered = No respondiste a tiempo a mi pregunta, así que no he hecho nada de lo que pedía. Dímelo otra vez si todavía lo quieres.
decision-kept = Recordado
decision-not-kept = No recordado
decision-approved = Aprobado
decision-rejected = Rechazado
decision-withdrawn = Retirado
decision-changed = Cambió entretanto
decision-not-applied = No aplicado
decision-let-in = Admitido
decision-ignored = Ignorado
room-nearly-full = Tus archivos ocupan { $used } y aquí pueden ocupar { $most }. Borra lo que ya no necesites: cuando el espacio esté lleno, no podré guardar archivos nuevos.
room-full = No hay espacio para este archivo, así que no se guardó: tus archivos ocupan { $used } y aquí pueden ocupar { $most }. Borra lo que ya no necesites y envíalo otra vez.
followed-by-hand = Lo que escribiste en { $path } vale ahora en todas partes, en lugar de «{ $old }». `/memory history NAME` muestra lo que había.
edit-merged = { $path } se guardó en un editor que tenía abierta una versión anterior. Conservé tu cambio y volví a poner lo que se escribió entretanto: «{ $lines }».
edit-merged-shorter = { $path } se guardó en un editor que tenía abierta una versión anterior. Conservé tu cambio y dejé fuera lo que se quitó entretanto.
notes-unlisted = { $count ->
    [one] La nota ya no existe, así que quité su línea del índice: «{ $lines }».
   *[other] Las notas ya no existen, así que quité sus líneas del índice: «{ $lines }».
}

## Reminders

reminder = **Recordatorio:** { $words }
reminder-from-outside = Un recordatorio con el que estuviste de acuerdo; antes yo había leído: { $sources }.
reminder-late = Tenía que llegar antes: { $due }; no ha podido llegar antes.
reminder-late-more = Tenía que llegar antes: { $due } y { $count ->
    [one] una vez más
   *[other] { $count } veces más
} desde entonces; no ha podido llegar antes.
reminder-late-many = Tenía que llegar antes: { $due } y { $count } veces o más desde entonces; no ha podido llegar antes.
button-done = Hecho
button-later = +1 h
reminder-done = Hecho.
reminder-done-until = Hecho. Próxima vez: { $next }.
reminder-later = Te lo recordaré otra vez: { $when }.
reminder-later-already = Ya está puesto otra vez. /reminders muestra la hora.
reminder-not-come = El número { $id } todavía no ha llegado. Para cambiar su hora, pídemelo con tus palabras.
reminder-unknown = No hay ningún recordatorio ni tarea { $id }. La lista de recordatorios muestra los números.
reminder-cancelled = { $kind ->
    [task] Tarea cancelada
   *[reminder] Recordatorio cancelado
}, { $id }: { $words }{ $time }.
reminders-none = No hay recordatorios. Pídeme que te recuerde algo, o que haga algo cada mañana.
reminders-zone = Las horas son las de { $zone }.
reminders-how = /reminders cancel NÚMERO cancela uno. /reminders later NÚMERO vuelve a poner dentro de una hora uno que ya ha llegado.
reminder-kind = { $kind ->
    [task] tarea
   *[reminder] recordatorio
}
reminder-times = próxima vez { $times }, y así sucesivamente
reminder-not-set = _(No he puesto ningún recordatorio de «{ $words }». Dilo otra vez si lo quieres.)_
reminder-works = en marcha ahora
reminder-times-until = próxima vez { $times }, hasta { $until }
from-outside = de fuera: { $sources }
task-failed = No he podido hacer la tarea { $id } (para { $due }): { $why }. /reminders la muestra, y cuándo toca otra vez.
task-failed-why = { $reason ->
    [refused] el servidor del modelo ha rechazado la petición
    [model_away] no se ha podido contactar con el modelo
    [too_old] no se ha podido contactar con el modelo
    [too_slow] ha tardado demasiado
    [cut_off] me han interrumpido varias veces mientras la hacía
    [stopped] se ha detenido
    [not_allowed] se ha retirado el acceso
    [deleted] se ha borrado el mensaje
    [forgotten] se ha borrado la respuesta
    [restored] entretanto se ha restaurado una copia de seguridad
    [never_asked] no llegó a empezar
    [still_running] la vez anterior no había terminado
    [nobody_to_tell] no había ninguna dirección para la respuesta
   *[no_answer] no ha habido respuesta
}

## Commands

help = Escríbeme sin más. También hay:
command-too-long = Eso es demasiado largo para un comando, que puede tener { $most } caracteres. No se hizo nada.
command-too-slow = Eso tardó más de { $limit }, así que lo dejé. Pide menos de una vez, por favor.
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

answer-where-asked = Responde a una pregunta en el chat donde se hizo, con su botón o su número.
nothing-found = No se ha encontrado nada.
resend-nothing = No hay nada apartado.
resend-unknown = No hay nada apartado con ese número.
resent = { $count ->
    [one] Lo intento otra vez ahora.
   *[other] Intento otra vez { $count } envíos ahora.
}

## The state and the account

status-unanswered = - esperan respuesta: { $count ->
    [0] nada
    [one] 1 mensaje
   *[other] { $count } mensajes
}
status-undelivered = - esperan entrega: { $count ->
    [0] nada
    [one] 1 mensaje
   *[other] { $count } mensajes
}
status-set-aside = - apartados por no poder entregarse: { $numbers } ({ $resend } lo intenta otra vez)
status-works = funciona
status-trouble = { $why ->
   *[other] no funciona; la orden `compline doctor`, en el ordenador en el que funciono, dice por qué
}
status-chat-trouble = { $why ->
   *[other] Un chat no funciona; la orden `compline doctor`, en el ordenador en el que funciono, dice por qué
}
status-heard = última señal hace { $heard }
status-heard-message = última señal hace { $heard }, último mensaje hace { $message }
status-tools = - herramientas de { $server }: { $state }
status-tools-connected = conectado desde { $since }
status-tools-absent = no conectado
status-tools-begun-again = { $count ->
    [one] iniciado de nuevo una vez
   *[other] iniciado de nuevo { $count } veces
}
status-tools-refused = { $count ->
    [one] una de ellas no se puede usar (nombre o tamaño)
   *[other] { $count } de ellas no se pueden usar (nombre o tamaño)
}
status-proposals = - propuestas que te esperan: { $count }
status-upkeep = - mantenimiento: último { $at }, { $state ->
    [sound] el diario está intacto
   *[damaged] el diario está DAÑADO: la orden `compline doctor`, en el ordenador en el que funciono, dice dónde
}
status-restored = - restaurado de una copia de seguridad ({ $at }): { $outbox ->
    [one] 1 mensaje en espera no se envió
   *[other] { $outbox } mensajes en espera no se enviaron
} y { $messages ->
    [one] se cerró 1 que esperaba respuesta
   *[other] se cerraron { $messages } que esperaban respuesta
}
status-took-over = - tomó el relevo de otra máquina ({ $at }): las respuestas a lo escrito antes pueden repetirse, y lo dicen
status-reflections = - próximas reflexiones: { $times }
status-reflection = { $job ->
    [daily] diaria
    [weekly] semanal
   *[monthly] mensual
} { $at }
status-heartbeat = - comprobación periódica de { $person }: { $last }; { $next }
status-heartbeat-ran = última { $at }
status-heartbeat-new = todavía ninguna
status-heartbeat-next = próxima { $at }, antes si algo cambia
status-heartbeat-idle = no hay nada abierto en HEARTBEAT.md
status-meaning = - búsqueda por significado: { $what }
vectors = { $model }, { $length }; { $kept } textos tienen uno, { $lacking }
vectors-unasked = aún no se ha preguntado
vectors-length = { $count } números por vector
vectors-complete = no falta ninguno
vectors-lacking = faltan { $count }
vectors-lacking-many = faltan más de { $count }
vectors-away = { $what }. Desde { $since } solo se busca por palabras{ $why ->
   *[other] ; la orden `compline doctor`, en el ordenador en el que funciono, dice por qué
}. Próximo intento: { $next }
status-talk = - { $person }: conversación { $conversation }, último mensaje { $last }
status-no-talk = - { $person }: ninguna conversación abierta, último mensaje { $last }
status-silent = - { $person }: todavía nada
status-model = - modelo: { $model }
status-model-away = - modelo: { $model }, sin respuesta desde { $since }: { $why }
status-refusal = - rechazado por su servidor ({ $at }): { $why }
status-used-up = - { $budget } se ha agotado; vuelvo a responder pasada la medianoche, o cuando un propietario lo aumente en la configuración
status-left = - queda para hoy: { $money }, y { $tokens } tokens donde no se conoce el precio
status-read = Ha leído { $sources }. Hasta /new pregunto antes de enviar, anotar o poner recordatorios; /trust muestra más.
status-skill-without-names = { $name } (no nombra ningún destino)
status-skills = Habilidades cargadas: { $skills }. Hasta /new pregunto antes de que algo vaya a otro destino.
whoami = Eres **{ $name }**, { $role ->
    [owner] propietario
   *[member] miembro
}.
whoami-reached = - se te encuentra en: { $addresses }
whoami-unreached = - se te encuentra en: ningún sitio
whoami-conversation = - conversación: desde { $since }
whoami-no-conversation = - conversación: ninguna ahora; tu próximo mensaje empieza una
whoami-memory = - memoria: tus propias notas y conversaciones, y las de nadie más
usage-none = Todavía no se ha usado ningún modelo.
usage-today = Hoy
usage-days = Últimos { $days } días
usage-by-day = Por días
usage-by-person = Por personas
usage-by-conversation = Conversaciones más caras
usage-cached = El { $percent } % de la entrada vino de la caché de un proveedor.
usage-nothing = todavía nada
usage-nobody = nadie
usage-total = en total
usage-tokens = { $tokens } tokens
usage-money-and-tokens = { $money } y { $tokens } tokens
usage-spent = { $amount } ({ $calls ->
    [one] 1 llamada
   *[other] { $calls } llamadas
})
usage-purpose = { $purpose ->
    [chat] chat
    [summary] resumen
    [extraction] recordar
    [transcription] nota de voz
    [embedding] búsqueda por significado
    [review] revisión
    [reflection] repaso
    [heartbeat] comprobación periódica
    [task] tarea
   *[other] { $purpose }
}

list-more = Más: { $command }
search-ends = Solo se muestran los { $depth } mejores. Más palabras, --in, --since o --until encuentran los demás.
list-earlier = Antes: { $command }
list-later = Después: { $command }

## Conversations

conversations-none = Todavía no hay conversaciones de ese tipo.
conversation-unknown = No hay ninguna conversación { $id }.
conversation = Conversación { $id }
conversation-untitled = sin título
conversation-task = Tarea { $number }
conversation-reflection = Reflexión sobre { $period }
conversation-heartbeat = Comprobación periódica, { $at }
conversation-facts = { $person }, { $messages ->
    [one] 1 mensaje
   *[other] { $messages } mensajes
}, { $ended }
conversation-facts-own = { $person } escribió { $messages ->
    [one] 1 mensaje
   *[other] { $messages } mensajes
}, { $ended }
conversation-open = todavía abierta
conversation-ended = terminó { $at }
summary-list = { $list ->
    [topics] Temas
    [decisions] Decisiones
    [preferences] Preferencias
   *[pending] Pendiente
}
message-edited = (cambiado después a) { $words }
attached = { $kind ->
    [photo] foto
    [voice] nota de voz
   *[file] archivo
}
by-itself = { $from }, por su cuenta ({ $cause })
cause = { $kind ->
    [reminder] recordatorio
    [task] tarea
    [question] pregunta
    [proposal] propuesta
    [heartbeat] comprobación periódica
    [reflection] repaso
   *[notice] aviso
}

## What came from outside, and what a person vouches for

trust-no-conversation = No hay ninguna conversación abierta, así que no hay nada de fuera en ella. Envía un mensaje y pregunta otra vez.
trust-nothing = En esta conversación no hay nada de fuera.
trust-head = En esta conversación hay texto de fuera, así que pregunto antes de enviar algo, escribir una nota o poner un recordatorio. `/new` empieza sin él.
trust-open = sin confianza
trust-vouched = respondes por ello
trust-foreign = reenviado o escrito por otros: sigue siendo de fuera
trust-no-such-item = En esta conversación no has enviado nada con ese número. `/trust` muestra lo que enviaste.
trust-wrong-code = Ese código es de otra cosa. `/trust NÚMERO` muestra lo que enviaste, con su código.
trust-not-yours = Eso es reenviado o lo escribieron otros, así que sigue siendo de fuera. Dime con tus palabras qué debo saber de ello.
trust-not-read-yet = Todavía no he leído ese archivo. Pregunta otra vez cuando haya respondido.
trust-cannot-show = De ese archivo no puedo mostrarte ni texto ni imagen, así que sigue siendo de fuera.
trust-too-long = Eso es demasiado largo para mostrarlo aquí entero, y nadie debería responder por lo que no ha leído.
button-trust = Confiar aquí
trust-nothing-to-take-back = No permites nada especial en esta conversación.
trust-unnamed = un archivo sin nombre
trust-picture = la imagen de arriba
trust-others = No es tuyo, y aquí nunca es de confianza: { $sources }.
trust-file = Algunas líneas de { $path } vinieron de fuera: `/promote { $path }` las muestra y las hace tuyas.
trust-how = `/trust NÚMERO` muestra otra vez lo que enviaste y te deja responder por ello.
trust-tool = Sin preguntar hasta /new: { $name }. `/trust off` lo retira.
trust-tool-times = Sin preguntar: { $name }, { $count } veces más. `/trust off` lo retira.
trust-destination = No lo nombra ninguna habilidad cargada, pero está permitido hasta /new: { $name }. `/trust off` lo retira.
trust-shown = Enviaste esto ({ $at }): { $what }.
trust-how-to-vouch = Con `/trust { $number } { $code }` cuenta como tuyo en esta conversación: entonces puedo poner recordatorios a partir de ello sin preguntar; una nota sigue necesitando tu sí. Antes de que algo salga sigo preguntando. `/trust off` lo retira.
trust-vouched-now = Desde ahora { $what } cuenta como tuyo en esta conversación. Antes de que algo salga sigo preguntando.
trust-taken-back = { $count ->
    [one] Retirado: desde ahora vuelvo a preguntar.
   *[other] Los { $count } están retirados: desde ahora vuelvo a preguntar.
}

## Sizes, and what a person's memory holds

size-bytes = { $count ->
    [one] 1 byte
   *[other] { $count } bytes
}
gauge = { $size } de { $most } KB ({ $percent } %)
enumeration = { $first } y { $last }
instead-of = en lugar de «{ $old }»
memory-edit-where = Aquí no hay editor. En un terminal del ordenador en el que funciono, `compline memory edit [NOTE]` abre uno, y también `/memory edit [NOTE]` en `compline chat`. Sirve cualquier cosa que cambie archivos Markdown: los leo de nuevo antes de cada respuesta.
memory-off = La memoria está desactivada (`[memory] enabled`): no guardo nada, y lo que se guardó antes no lo leo si no me lo pides. Los archivos se quedan.
memory-reads-part = Antes de cada respuesta leo lo que cabe: los datos más nuevos y el índice.
memory-reads-whole = Lo leo antes de cada respuesta.
memory-goes-on = Hay más: { $command } lo muestra todo.
memory-counted = { $count ->
    [one] 1 archivo
   *[other] { $count } archivos
}, { $size }
memory-notes = **Notas**: { $counted }
memory-no-notes = **Notas**: todavía ninguna. Dime qué debo recordar, o usa /remember.
memory-more-notes = - y { $count } más: { $command }
memory-today = **Hoy**: { $name }, { $gauge }
memory-nothing-today = **Hoy**: todavía nada
memory-days = **Otros días**: { $counted }, el más nuevo { $newest }; el más lleno { $fullest }, { $gauge }
memory-facts = **Anotado en conversaciones**:
memory-waiting = **De fuera**, solo lo leo si me lo pides: { $counted }. `{ $promote }` muestra una y cómo hacerla tuya.
memory-total = En total: { $counted }. `{ $show }` muestra una, `{ $history }` sus versiones anteriores.
memory-from-outside = Estas palabras vinieron de fuera ({ $sources }). Solo las leo si me lo pides.
memory-cut = Es más largo de lo que cabe aquí; este es el principio. El archivo lo tiene todo.
memory-no-such-note = No hay ninguna nota así. /memory las muestra.
memory-not-text = no es texto UTF-8
memory-too-large = ocupa más de 1 MB
memory-not-opened = no se puede abrir, o lleva fuera de la carpeta
memory-index-unread = **MEMORY.md** no se puede leer: { $why }. No se usa, y no se le añade nada, hasta que lo arregles a mano.
memory-unread-files = **Ni leídos ni buscados**, hasta que los arregles a mano:
memory-too-large-to-show = Ese archivo ocupa más de 1 MB, así que ni se lee ni se muestra.
memory-unreadable = Ese archivo no se puede leer como texto.
memory-remembered = Lo tengo presente desde ahora ({ $path }, { $gauge }){ $instead }.
memory-remembered-unread = MEMORY.md ya lo dice, pero ese archivo contiene texto de fuera, así que no lo leo si no me lo pides. `/promote MEMORY` lo muestra y cómo hacerlo tuyo.
memory-remembered-as-note = Guardado como { $path } ({ $size }), con una línea en MEMORY.md{ $instead }.
memory-known = { $path } ya lo dice.
memory-full = No guardado: { $path } ocuparía más de { $room } KB. Acórtalo con un editor (`compline memory edit`) e inténtalo otra vez.
memory-overfull = No guardado: { $path } ya pasa del límite de { $room } KB. Acórtalo con un editor (`compline memory edit`) e inténtalo otra vez.
memory-broken = No se ha cambiado nada: { $path } no se puede leer como texto. Puede contener otra cosa, ser demasiado grande o ser de otro usuario. Arréglalo o muévelo a mano e inténtalo otra vez; `compline doctor` los revisa todos.
memory-not-kept = No se ha cambiado nada: { $why }.
memory-yours = { $path } ya es tuyo.
memory-how-to-promote = `{ $command }` hace tuyas estas palabras: entonces las leo como todo lo que me has dicho. El código vale exactamente para este texto.
memory-too-long-to-promote = Es demasiado largo para un chat, y nadie debería aceptar lo que no ha leído. `{ $command }` lo muestra entero.
memory-wrong-code = Ese código no corresponde a lo que hay ahora, así que no se ha cambiado nada. `{ $command }` muestra el texto y su código.
button-promote = Hacerlo mío
versions-head = **{ $path }**, lo más nuevo primero
version = versión { $id }
version-author = { $author ->
    [assistant] del asistente
    [person] tuya, con un comando
    [hand] tuya, a mano
    [found] encontrada tras una restauración
   *[program] del programa
}
version-cause = { $cause ->
    [first] primer contenido
    [received] recibido
    [given] de una herramienta externa
    [remember] una nota
    [save] la nota del día
    [section] una sección
    [file] el archivo entero
    [facts] datos de una conversación
    [learned] algo aprendido
    [promote] hecho tuyo
    [import] una importación
    [forget] olvidado
    [follow] tu cambio en otro archivo
    [merge] unido con tu cambio
    [unlist] líneas de notas que ya no existen
    [page] en la página
    [restore] una versión anterior
   *[edit] un cambio
}
version-deleted = borrado
version-without-text = su texto ya no se guarda
version-present = es lo que hay ahora
comparison = **{ $path }**, de la versión { $old } a la versión { $new }
comparison-same = Son iguales.
versions-cut = Solo se muestran las { $count } versiones más recientes; los textos de las anteriores ya no se conservan.
memory-took-lines = He quitado esto tuyo de { $path }: «{ $lines }». `{ $restore }` lo recupera.
versions-how = `{ $show }` muestra una y lo que cambia, `{ $restore }` la recupera.
memory-restoring-changes = Al recuperarla cambia esto:
memory-is-there = Es lo que hay ahora.
version-how = `{ $command }` la recupera.
version-restored = Hecho: { $path } vuelve a la versión { $id }.
version-restored-outside = Sus palabras siguen contando como de fuera.
version-made-way = El archivo anterior no se podía leer como texto; está guardado como { $path }.
version-same = Nada que cambiar: { $path } ya es igual que la versión { $id }.
version-unknown = No tiene esa versión. `{ $command }` las muestra.
version-gone = El texto de la versión { $id } ya no se guarda, así que no se puede recuperar.
memory-still-from-outside = No se ha cambiado nada: el texto de esa versión vino de fuera, y eso no puede estar en un archivo que leo siempre.

## Where something comes from

why-lost = El diario ya no muestra de dónde vino.
why-from-outside = En ello intervino texto que aquí nadie ha escrito. Así entró:
why-nothing-from-outside = En ello no intervino nada de fuera.
why-no-fact = No conozco ningún dato con esa clave.
why-no-answer = Todavía no te he respondido.
why-vouched = Respondiste por algo que intervino en ello: { $sources }.
why-skill = En ello intervino una habilidad aceptada de otra persona.
why-fact = «{ $fact }» está en { $path }.
why-note = Se trata de { $path }.
why-written = Se sabe desde { $at }, { $origin }.
why-changed = Desde entonces ha cambiado { $count ->
    [one] una vez
   *[other] { $count } veces
}, la última { $at }, { $origin }.
why-conversation = { $opened } (`{ $command }`)
why-more-conversations = { $count } más
why-conversations = { $count ->
    [one] Viene de esta conversación: { $conversations }.
   *[other] Viene de estas conversaciones: { $conversations }.
}
why-messages = { $count ->
    [0] tu respuesta a una pregunta
    [one] tu mensaje
   *[other] tus { $count } mensajes
}
why-history = lo que se dijo antes en la conversación
why-read-conversations = { $count ->
    [one] la conversación { $numbers }, resumida o leída
   *[other] las conversaciones { $numbers }, resumidas o leídas
}
why-files = los archivos { $files }
why-tool-times = { $tool } ({ $count } veces)
why-answer = Para mi última respuesta ({ $at }) tenía: { $held }.
why-tools = He usado las herramientas { $tools }.
why-more-sources = { $count ->
    [one] También intervino 1 fuente más.
   *[other] También intervinieron { $count } fuentes más.
}
why-step = { $after ->
    [answer] Esa respuesta
    [message] Ese mensaje
    [summary] Ese resumen
    [file] Ese archivo
    [attachment] Ese archivo
    [skill] Esa habilidad
    [facts] Esa lista de datos
   *[proposal] Eso
} { $verb ->
    [given] respondía a
    [knew] conocía
    [read] leyó
   *[from] venía de
} { $thing }.
why-thing = { $step ->
    [message] un mensaje ({ $at })
    [summary] un resumen de una conversación anterior ({ $at })
    [file] un archivo de la carpeta de trabajo, tal como se escribió ({ $at })
    [attachment] un archivo que se envió ({ $at })
    [skill] una habilidad, tal como era entonces ({ $at })
    [facts] unos datos extraídos ({ $at })
   *[answer] una respuesta ({ $at })
}
why-earlier-answer = una anterior ({ $at })
why-earlier-answers = otras anteriores, hasta una ({ $at }), con { $count } más entre medias
why-proposal = propuesta { $id } ({ $at })
why-came-by-tool = Aquí entró: el asistente usó { $tool }, y volvió esto: { $source }.
why-came-by-tool-alone = Aquí entró: el asistente usó { $tool }.
why-came-somehow = Aquí entró: en lo que se leyó para esa respuesta había { $source }.
why-came-somehow-alone = Aquí entró, con lo que se leyó para esa respuesta.
why-came-with = Aquí entró, { $what ->
    [message] con el mensaje
   *[other] con ello
}: { $source }{ $name }.
why-came-with-alone = Aquí entró, { $what ->
    [message] con el mensaje
   *[other] con ello
}{ $name }.
why-name = («{ $name }»)

## What waits, and codes for another address

pending-nothing = No te espera nada.
pending-question = - **pregunta { $id }** { $question }
pending-keep = ¿Recordar { $path }?
code-links-you = Este código te vincula otra dirección, { $name }.
code-valid = Vale una vez, durante { $time }.
code-open = - { $channel }: abre { $link }
code-send-in-chat = - { $channel }: envía la línea de abajo a { $account } ({ $link })
code-send = - { $channel }: envía la línea de abajo a { $account }
code-send-anywhere = Envía esta línea al asistente:

## What is forgotten, and exported

count-notes = { $count ->
    [one] 1 nota
   *[other] { $count } notas
}
count-lines = { $count ->
    [one] 1 línea
   *[other] { $count } líneas
}
count-earlier-lines = { $count ->
    [one] 1 línea de versiones anteriores
   *[other] { $count } líneas de versiones anteriores
}
count-entries = { $count ->
    [one] 1 entrada
   *[other] { $count } entradas
}
count-versions = { $count ->
    [one] 1 versión anterior
   *[other] { $count } versiones anteriores
}
count-summaries = { $count ->
    [one] 1 resumen
   *[other] { $count } resúmenes
}
count-summary-places = { $count ->
    [one] 1 lugar en resúmenes
   *[other] { $count } lugares en resúmenes
}
count-copies = { $count ->
    [one] 1 copia
   *[other] { $count } copias
}
count-planned-copies = { $count ->
    [one] 1 copia en peticiones anteriores, llamadas y el índice
   *[other] { $count } copias en peticiones anteriores, llamadas y el índice
}
count-messages = { $count ->
    [one] 1 mensaje
   *[other] { $count } mensajes
}
count-archives = { $count ->
    [one] 1 archivo de exportación
   *[other] { $count } archivos de exportación
}
count-deleted-archives = { $count ->
    [one] 1 archivo de exportación, porque contenía una copia de todo
   *[other] { $count } archivos de exportación, porque contenían una copia de todo
}
count-reminders = { $count ->
    [one] 1 recordatorio
   *[other] { $count } recordatorios
}
count-proposals = { $count ->
    [one] 1 propuesta
   *[other] { $count } propuestas
}
count-places = { $count ->
    [one] 1 lugar
   *[other] { $count } lugares
}
forget-proved = Una búsqueda ya no encuentra nada de ello.
forget-proved-but-spared = Aparte de lo que has exceptuado, una búsqueda ya no encuentra nada de ello.
forget-nothing-left = De eso ya no queda nada.
forget-backups = Las copias de seguridad anteriores todavía lo contienen, hasta que las borres.
forget-replica = { $days ->
    [one] La réplica en otra máquina lo contiene hasta un día.
   *[other] La réplica en otra máquina lo contiene hasta { $days } días.
}
forget-none-such = No hay ninguna nota ni dato llamado { $name }, y ninguna línea de la memoria tiene estas palabras. { $memory } muestra lo que hay. `{ $forget }` borra lo que solo se dijo.
forget-none-said = No hay ninguna nota ni dato llamado { $name }, y ningún mensaje o archivo tiene estas palabras en una línea.
forget-too-short = No hay ninguna nota ni dato llamado { $name }, y eso es demasiado corto para buscarlo.
forget-none-in-group = No guardo ninguna nota ni dato llamado { $name } para este grupo. Para olvidar lo que guardo solo para ti, usa nuestro chat directo.
forget-left-out = Lo que has exceptuado se queda.
forget-left-out-items = Exceptuado, así que se queda: { $items }.
forgotten = Olvidado.
forgotten-parts = Olvidado: { $parts }.
forget-in-messages = Todavía en { $messages } en que se dijo: los mensajes se quedan hasta que los borres. `{ $command }` los borra también.
forget-paraphrases = Todas sus palabras están también en otra frase ({ $places }): una búsqueda la encuentra, y no sé si significa lo mismo. `{ $command }`, con palabras que allí van juntas, muestra cuántos mensajes las tienen, y los borra.
forget-unread = No he podido buscar en { $files }, así que no sé si está ahí.
forget-only-before = No estaba en ningún archivo actual, solo en versiones anteriores, que ya no se pueden recuperar.
forget-in-reminders = Todavía en { $reminders }: `{ $command }` los borra también; { $list } los muestra.
forget-in-proposals = Todavía en { $proposals } de habilidades, que el propietario mantiene o rechaza.
forget-in-files = Todavía en { $files }: lo que escribiste tú solo lo cambias tú.
forget-in-received-files = Todavía en { $files }: un archivo que enviaste o recibiste solo puedes cambiarlo o borrarlo tú.
forget-in-assistant-files = Todavía en { $files }, que escribí y no pude cambiar: cámbialo o bórralo tú.
forget-elsewhere = Entretanto ha llegado a { $places }: `{ $command }` continúa.
forget-unreadable = El olvido { $id } no ha terminado: el diario está dañado ahí, y sus palabras no se pueden leer. Olvídalo otra vez con sus palabras; `compline doctor` le dice más a un propietario.
button-delete = Borrar todo esto
plan-changed = Lo que esto borraría ha cambiado desde que se mostró.
plan-no-such-number = El plan no tiene nada con ese número. No se ha borrado nada.
plan-optional = Se queda si no eliges su número:
plan-headline = Olvidar { $name } borra: { $deletes }. Todavía no se ha borrado nada.
plan-deletes-nothing = nada por sí solo
plan-more = - y { $count } más como estos
plan-note = nota{ $title } ({ $path })
plan-line = { $path }, línea «{ $text }»
plan-earlier-line = línea «{ $text }» de { $count ->
    [one] 1 versión anterior
   *[other] { $count } versiones anteriores
} de { $path }
plan-in-versions = en { $count } versiones
plan-derived = { $what }, hecho a partir de ello
plan-line-of = una línea de { $path }
plan-archive = archivo de exportación { $path }, con una copia de todo
plan-message = { $whose ->
    [mine] mi mensaje
    [yours] tu mensaje
   *[somebody] mensaje
} ({ $at }) «{ $text }»
plan-message-in-other-words = { $whose ->
    [mine] mi mensaje
    [yours] tu mensaje
   *[somebody] mensaje
} ({ $at }), en otras palabras
plan-message-of = { $whose ->
    [mine] mi mensaje
   *[somebody] el mensaje
} ({ $at })
plan-summary = lo que dice de ello el resumen de una conversación ({ $at })
plan-reflection = lo que dice de ello un repaso ({ $at })
plan-reminder = recordatorio { $id }, que entonces se cancela
plan-reminder-of = recordatorio { $id }
plan-stays-by-hand = { $files } (lo escribiste tú, así que solo tú lo cambias)
plan-stays-by-assistant = { $files } (lo escribí y no puedo cambiarlo: cámbialo o bórralo tú)
plan-stays-received = { $files } (lo enviaste o lo recibiste, así que solo tú puedes cambiarlo)
plan-stays-unread = { $files } (no puedo buscar ahí)
plan-stays-in-messages = { $count ->
    [one] 1 mensaje
   *[other] { $count } mensajes
} del grupo (aquí solo el propietario borra mensajes)
plan-stays-in-proposals = { $count ->
    [one] 1 lugar
   *[other] { $count } lugares
} en propuestas de habilidades (el propietario las mantiene o las rechaza)
plan-stays-in-backups = copias de seguridad anteriores, hasta que las borres
plan-stays-in-replica = la réplica en otra máquina, hasta { $days ->
    [one] un día
   *[other] { $days } días
}
plan-stays = Se queda: { $places }.
plan-messages-stay = Lo que se dijo se queda: `{ $command }` incluye los mensajes y los recordatorios.
plan-carry-out = `{ $command }` borra todo esto para siempre.
plan-carry-out-part = `{ $command }` borra solo lo que tiene esos números.
export-in-direct-chat = Todo lo que se guarda sobre ti llegará como archivo a tu chat directo.
export-no-address = No hay ningún chat al que enviar un archivo. El propietario puede escribirlo: compline export NAME FILE
export-too-large = Ocupa más de { $most } MiB, más de lo que admite un chat. El propietario puede hacerlo en el ordenador: compline export NAME FILE
export-attached = Aquí está todo lo que se guarda sobre ti ({ $kib } KiB). El archivo se borra de la carpeta de trabajo al cabo de una semana.
export-title = Datos guardados sobre { $name }
export-made = Con fecha de { $at }.
export-contents = - `conversations/`: cada conversación en Markdown
    - `messages.jsonl`: cada mensaje, un objeto JSON por línea; de los grupos solo los tuyos
    - `summaries.jsonl`: lo que se anotó al final de las conversaciones
    - `reflections/`: repasos de días, semanas y meses
    - `reminders.jsonl`: recordatorios y tareas por venir
    - `settings.json`: idioma y zona horaria
    - `knowledge/`: los archivos de la memoria tal como están, con lo que enviaste en `inbox/`
    - `experience/`: qué más ha aprendido el asistente sobre ti
write-refused = { $why ->
    [elsewhere] la ruta lleva fuera de la carpeta
    [foreign] se escribió para otra persona
    [owners-hand] este archivo solo lo cambia el propietario, a mano
    [untrusted] las palabras de fuera no van a un archivo que se lee por sí solo
   *[not-text] lo que hay ahí no es texto
}

message-forgotten = (olvidado)
message-gone = (borrado por quien lo envió, o se acabó su tiempo)
message-forgotten-on-request = (borrado: olvidado a petición)
imported-from = importado de { $program }

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
does-remember = Recordar un texto
does-promote = Confiar en una nota de fuera
does-trust = Confiar en lo que enviaste
does-open = Ver lo pendiente
does-reminders = Mostrar o cancelar recordatorios
does-forget = Borrar una nota o un dato
does-why = Mostrar el origen de algo
does-conversations = Mostrar conversaciones
does-export = Exportar todos tus datos
does-files = Mostrar tus archivos
does-file = Enviar un archivo
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

## Hints after invalid arguments; the English ones stand in the table of commands

hint-new = después envía tu mensaje aparte
hint-yes = con el número de la pregunta; 10 o new permite también más llamadas a una herramienta externa, y con vary también con otro contenido
hint-no = con el número de la pregunta
hint-memory = search admite también --agent NOMBRE, --section TÍTULO, --category PALABRA, --since y --until DÍA, --case y --context LÍNEAS; show NOTE VERSION muestra una versión, y diff NOTE VERSION VERSION qué cambió entre dos; profiles muestra lo que han aprendido otros agentes y perfiles, y profile NAME on|off lo activa o desactiva
hint-trust = NUMBER es el número de la lista; off lo retira todo
hint-open = también drop N, para lo que ya no se quiere; later N CUÁNDO, sin CUÁNDO mañana; undo N abre de nuevo uno cerrado, durante treinta días; add TEXTO
hint-reminders = para poner uno, pídemelo con tus palabras, sin comando; later vuelve a poner dentro de una hora uno que ya ha llegado
hint-forget = NOTE es un nombre, la clave de un dato o todas las palabras de una línea; la respuesta muestra lo que se borra y el código para ello; "messages" borra también los mensajes de los que procede; /forget PALABRAS messages borra lo que solo está en mensajes
hint-conversations = KIND es chats, reflections, heartbeats, tasks, imported o all; before NÚMERO muestra anteriores; el número de un mensaje tras el de su conversación muestra la parte donde está
hint-files = FOLDER after NOMBRE muestra lo que viene después de NOMBRE
hint-file = /files muestra las rutas
hint-heartbeat = add es para algo que se hace una vez, always para algo que vale siempre; tidy quita lo que está marcado
hint-show = /pending muestra los números
hint-approve = /pending muestra los números, y /show NÚMERO el hash
hint-reject = /pending muestra los números
hint-skills = show NAME [VERSION] muestra una habilidad o una versión suya, y diff NAME VERSION VERSION qué cambió entre dos
hint-history = /skills muestra los nombres
hint-rollback = /history NOMBRE muestra las versiones
hint-reflect = PERIOD es algo como 2026-11-20, 2026-W47, 2026-11 o today; "again" repite un repaso que ya existe
hint-search = admite también --in messages|conversations|reflections|notes|files|skills, --category PALABRA, --since y --until DÍA, --case y --context LÍNEAS
hint-pair = si pregunto por el nombre, /pair #N member same o /pair #N member new

## The page

web-link = { $link } abre la sesión de un navegador como { $name }. Vale una vez y durante dos minutos; no se lo des a nadie.
web-only-on-the-computer = La página solo se abre en el ordenador en el que funciono: allí `compline web` crea un enlace.

## Files

files-all = Tus archivos
files-none = Aquí no hay archivos.
files-how = `{ $list }` abre una carpeta, `{ $send }` envía un archivo.
files-none-such = No existe ese archivo ni esa carpeta. `{ $list }` muestra los que hay.
file-too-large = Ocupa más de { $most } MB, y ningún chat admite tanto.
file-no-chat = No hay ningún chat al que enviar un archivo.
file-attached = Aquí está el archivo ({ $kib } KiB).
file-in-direct-chat = El archivo llegará a tu chat directo.

## Propuestas en una lista

proposal-entry = - **{ $id }** { $what }: { $standing }, desde hace { $age }
proposal-waits = **{ $id }** { $what }: { $standing }
proposal-how = `{ $command }` muestra una de ellas y cómo decidir.
proposal-change = { $how ->
    [folder] usar la habilidad { $skill } de su carpeta
    [create] añadir la habilidad { $skill }
    [delete] borrar la habilidad { $skill }
    [rename] cambiar el nombre de la habilidad { $skill } a { $name }
   *[edit] cambiar la habilidad { $skill }
}
proposal-outside = un texto de fuera tuvo parte en ello ({ $sources })
proposal-no-act = no hace nada por sí misma
proposal-act = { $act ->
    [sends] envía
    [secret] lee un secreto
    [deletes] borra
    [access] cambia accesos
    [overrides] anula reglas
    [obeys] obedece a otros textos
    [copies] se copia a sí misma
    [assumes] toma otra cosa por un sí
    [runs] ejecuta un programa
    [quiet] oculta algo
    [money] gasta dinero
    [always] siempre
    [standing] una y otra vez
    [writes] escribe archivos
    [reads] lee archivos
   *[tools] usa herramientas
}
proposal-advice = revisor: { $advice ->
    [passed] nada en contra
    [refused] lo desaconseja
    [skipped] omitido
    [later] aún no consultado
   *[none] sin veredicto
}
proposal-ended = { $state ->
    [approved] aprobada
    [rejected] rechazada
    [conflict] no aplicada, porque la habilidad cambió entretanto
   *[expired] caducada
}

## Informe de una retrospectiva

report-head = **Mirando atrás: { $job ->
    [weekly] la semana desde { $day }
    [monthly] el mes desde { $day }
   *[daily] { $day }
}: { $title }**
report-done = Hecho
report-waits = Espera tu decisión
report-left-out = Omitido
report-all = Ver todo
report-remembers = Desde ahora recuerdo: { $words }
report-kept-apart = Un texto de fuera tuvo parte en esto, así que solo lo recuerdo si quieres: { $words }
report-left = { $count } { $why ->
    [over_limit] más de lo que se toma a la vez o en un día
    [refused] rechazadas por una comprobación
    [malformed] sin la forma correcta
    [off] solo anotadas, porque `auto_action` está desactivado
   *[void] no aplicadas, porque la habilidad cambió entretanto
}
report-for-you = Para que lo hagas tú: { $title }
report-forget = Olvidar «{ $title }»
report-show = Mostrar { $what }
report-history = Historial de { $name }
report-brief-offer = Si quieres, cada mañana te digo qué trae el día y qué queda abierto. Di simplemente: «Dame un resumen cada día a las 7».

## What is open

open-nothing = No hay nada pendiente. Lo que hablamos y queda sin terminar llega solo a esta lista; /open add TEXTO añade algo.
open-when = No entiendo esa hora. Prueba «tomorrow», «monday 09:00» o «2026-12-01».
open-pasted = Estas palabras están en algo que llegó de fuera, así que no las pongo por mi cuenta en tu lista.
open-heading = Pendiente
open-later-heading = Más tarde
open-closed-heading = Cerrado hace poco
open-reminders-heading = Recordatorios y tareas
open-heartbeat-heading = HEARTBEAT.md
open-how = /open done NÚMERO cierra uno, /open drop NÚMERO también si ya no se quiere, /open later NÚMERO lo aplaza, /open undo NÚMERO lo abre de nuevo.
open-item = - { $id } { $words } (desde { $since })
open-later-item = - { $id } { $words } (a partir de { $from })
open-closed-item = - { $id } { $words } ({ $how ->
    [dropped] descartado
   *[done] hecho
}, { $at })
open-was-closed = Cerrado: { $words } (/open undo { $id } lo abre de nuevo.)
open-reopened = Abierto de nuevo: { $words }
open-put-off = Aplazado: { $words } (a partir de { $from })
open-added = En tu lista: { $id } { $words }
open-known = Eso ya está en tu lista: { $words }
open-unknown = No hay ningún asunto pendiente { $id }. /open muestra los números.
