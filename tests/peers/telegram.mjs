// Starts an emulator of the Telegram Bot API on a free port, says `ready ADDRESS` on its first line, and ends with its standard
// input, so that it cannot outlive the test that started it.
import { createServer } from "node:net";
import TelegramServer from "telegram-test-api";

// The emulator takes no port 0, so one is looked for.
const port = await new Promise((found) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => found(port));
  });
});
const server = new TelegramServer({ port, host: "127.0.0.1" });
await server.start();
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
process.stdout.write(`ready ${server.config.apiURL}\n`);
