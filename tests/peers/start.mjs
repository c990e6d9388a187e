// Starts the mock of the model providers on a free port, says `ready ADDRESS` on its first line, and ends with its standard input,
// so that it cannot outlive the test that started it.
import { LLMock } from "@copilotkit/aimock";

const mock = new LLMock({ port: 0, logLevel: "silent" });
mock.loadFixtureFile(new URL("fixtures.json", import.meta.url).pathname);
await mock.start();
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
process.stdout.write(`ready ${mock.url}\n`);
