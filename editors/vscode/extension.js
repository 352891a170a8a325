// The client of `prismc lsp`: it starts the server and hands it the settings.

const { commands, window, workspace } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

function settings() {
  const given = workspace.getConfiguration("prismc");
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  return {
    target: given.get("target") || null,
    races: given.get("races"),
    include: given.get("include").map((path) => path.replace("${workspaceFolder}", folder)),
    defines: given.get("defines"),
  };
}

async function start() {
  const command = workspace.getConfiguration("prismc").get("command");
  client = new LanguageClient(
    "prismc",
    "Prism",
    { command, args: ["lsp"], transport: TransportKind.stdio },
    {
      documentSelector: [{ language: "prism" }],
      initializationOptions: settings(),
      synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.prism") },
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    window.showErrorMessage(
      `Prism: \`${command} lsp\` did not start (${error.message}). ` +
        "Install it with `pip install 'prismc[lsp]'`, or set `prismc.command`.",
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop();
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    commands.registerCommand("prism.restart", restart),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("prismc")) {
        restart();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
