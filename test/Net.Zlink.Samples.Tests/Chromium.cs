using System.Globalization;
using System.Net.WebSockets;
using System.Text.Json;
using System.Text.Json.Nodes;
using Net.Zlink.Tests.Support;
using Samples;

namespace Net.Zlink.Samples.Tests;

/// <summary>A headless Chromium, driven over its DevTools WebSocket: opens tabs, runs script in them, takes pictures.</summary>
internal sealed class Chromium : IAsyncDisposable
{
    private static readonly string[] Names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

    private readonly ChildProcess _process;
    private readonly string _profile;
    private readonly ClientWebSocket _socket = new();
    private readonly HashSet<string> _loaded = []; // Tabs whose page is there.
    private int _lastId;

    private Chromium(ChildProcess process, string profile) => (_process, _profile) = (process, profile);

    /// <summary>The program, or null where there is none.</summary>
    public static string? Find() => Programs.Find(Names);

    public static async Task<Chromium> StartAsync(string program)
    {
        string profile = Directory.CreateTempSubdirectory("zlink-chromium-").FullName;

        // Its sandbox needs rights that a container rarely has; the only page that it ever sees is our own.
        ChildProcess process = Programs.Installed(program, profile,
        [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--window-size=900,600",
                "--remote-debugging-port=0", $"--user-data-dir={profile}", "about:blank",
        ]).WithErrorsInOutput().Start();
        var browser = new Chromium(process, profile);
        try
        {
            const string Announcement = "DevTools listening on ";
            string line = await process.ReadLineAsync(Announcement);
            await browser._socket.ConnectAsync(new Uri(line[Announcement.Length..]), Guard.Token).Guarded();
            return browser;
        }
        catch
        {
            await browser.DisposeAsync();
            throw;
        }
    }

    /// <summary>Opens a page in a tab of its own.</summary>
    public async Task<Tab> OpenAsync(string url)
    {
        JsonNode target = await AskAsync("Target.createTarget", new JsonObject { ["url"] = "about:blank" }, session: null);
        string id = (string)target["targetId"]!;
        JsonNode attached = await AskAsync("Target.attachToTarget", new JsonObject { ["targetId"] = id, ["flatten"] = true },
            session: null);
        string session = (string)attached["sessionId"]!;
        await AskAsync("Page.enable", [], session);
        _loaded.Remove(session);
        await AskAsync("Page.navigate", new JsonObject { ["url"] = url }, session);
        while (!_loaded.Contains(session))
        {
            await ReadAsync();
        }

        return new Tab(this, id, session);
    }

    public async ValueTask DisposeAsync()
    {
        _socket.Dispose();
        await _process.DisposeAsync();
        try
        {
            Directory.Delete(_profile, recursive: true);
        }
        catch (IOException)
        {
            // A helper process of it still writes; the folder is in the system's place for such things.
        }
    }

    private async Task<JsonNode> AskAsync(string method, JsonObject parameters, string? session)
    {
        int id = ++_lastId;
        var request = new JsonObject { ["id"] = id, ["method"] = method, ["params"] = parameters };
        if (session is not null)
        {
            request["sessionId"] = session;
        }

        await _socket.SendAsync(JsonSerializer.SerializeToUtf8Bytes(request), WebSocketMessageType.Text, endOfMessage: true, Guard.Token)
            .Guarded();
        while (true)
        {
            JsonNode answer = await ReadAsync();
            if ((int?)answer["id"] == id)
            {
                return answer["result"] ?? throw new InvalidOperationException(
                    string.Create(CultureInfo.InvariantCulture, $"{method}: {answer["error"]}"));
            }
        }
    }

    private async Task<JsonNode> ReadAsync()
    {
        using var message = new MemoryStream();
        byte[] buffer = new byte[64 * 1024];
        WebSocketReceiveResult part;
        do
        {
            part = await _socket.ReceiveAsync(buffer, Guard.Token).Guarded();
            message.Write(buffer, 0, part.Count);
        }
        while (!part.EndOfMessage);
        JsonNode read = JsonNode.Parse(message.GetBuffer().AsSpan(0, (int)message.Length))!;
        if (string.Equals((string?)read["method"], "Page.loadEventFired", StringComparison.Ordinal))
        {
            _loaded.Add((string)read["sessionId"]!);
        }

        return read;
    }

    /// <summary>One tab.</summary>
    internal sealed class Tab(Chromium browser, string target, string session)
    {
        // Of a page, in milliseconds: less than the limit of the wait for its answer, so that it is the page that says what is missing.
        private const int Patience = 15_000;

        /// <summary>Runs script and returns its value; a promise is awaited.</summary>
        public async Task<string> RunAsync(string script)
        {
            JsonNode answer = await browser.AskAsync(
                "Runtime.evaluate", new JsonObject { ["expression"] = script, ["awaitPromise"] = true, ["returnByValue"] = true }, session);
            if (answer["exceptionDetails"] is { } thrown)
            {
                throw new InvalidOperationException($"{script}: {thrown}");
            }

            return answer["result"]!["value"]?.ToString() ?? "";
        }

        /// <summary>Waits in the page until a condition holds, looking again after each change of it. Fails with what the page shows
        /// instead.</summary>
        public async Task UntilAsync(string condition) => await RunAsync(
            $"new Promise((done, failed) => {{ const look = () => (({condition}) ? (watcher.disconnect(), done()) : 0); const watcher = "
                + $"new MutationObserver(look); " +
            "watcher.observe(document, { subtree: true, childList: true, attributes: true, characterData: true }); look(); " +
            $"setTimeout(() => failed(new Error('not within {Patience} ms; the page shows: ' + document.body.innerText)), {Patience}); "
                + $"}})");

        /// <summary>A PNG of what is shown.</summary>
        public async Task<byte[]> TakePictureAsync() =>
            Convert.FromBase64String((string)(await browser.AskAsync(
                "Page.captureScreenshot", new JsonObject { ["format"] = "png" }, session))["data"]!);

        public Task CloseAsync() => browser.AskAsync("Target.closeTarget", new JsonObject { ["targetId"] = target }, session: null);
    }
}
