using System.CommandLine;
using System.Diagnostics;
using System.Text.Json;
using Spectre.Console;
using Spectre.Console.Rendering;

namespace Net.Zlink.Tool.Commands;

/// <summary>Shows what <c>context.OpenDiagnostics()</c> of another process serves.</summary>
internal static class TopCommand
{
    private const int MostRows = 1000;

    // Enough for a process that is busy; one that listens and does not answer is something else.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5);

    public static Command Create(ZlinkTool tool)
    {
        var endpoint = new Argument<string?>("endpoint")
        {
            Description = "What OpenDiagnostics returned. None: the only one that a process of this user has opened, or a list of them",
            Arity = ArgumentArity.ZeroOrOne,
        };
        var once = new Option<bool>("--once") { Description = "Measure for one interval, print, and end" };
        var json = new Option<bool>("--json") { Description = "Print each answer of the process as a line of JSON: totals, not rates" };
        Option<double> interval = ToolOptions.Seconds("--interval", "How long one measurement takes", 1, 0.1, 3600);
        Option<int> peers = ToolOptions.Whole("--peers", "How many peers of each socket are shown at most", 10, 0, MostRows);
        Option<TopOrder> sort = ToolOptions.OneOf<TopOrder>(
            "--sort", "What is above: the oldest socket, or the one with most of a column; its peers likewise");
        return tool.Create("top", "Shows the sockets of a program and their peers: rates, queues, dropped messages and why.",
            """
              zlink top                                            of the only program with context.OpenDiagnostics(), or a list
              zlink top tcp://127.0.0.1:5999 --sort queued         of a program that named this endpoint
              zlink top --once --json | jq '.sockets[].statistics.queuedMessages'
            """,
            [endpoint, once, json, interval, peers, sort, tool.Options.Timeout],
            async run =>
            {
                string at = run.Get(endpoint) ?? await ChooseAsync(run, run.Get(json)).ConfigureAwait(false);
                var top = new Watch(run, at, TimeSpan.FromSeconds(run.Get(interval)), run.Get(once));
                await (run.Get(json) ? top.PrintJsonAsync() : top.ShowAsync(new TopTable(run.Get(sort), run.Get(peers))))
                    .ConfigureAwait(false);
            });
    }

    private static async Task<string> ChooseAsync(CommandRun run, bool json)
    {
        Found[] all = await Task.WhenAll(DiagnosticsEndpoint.Find().Select(endpoint => LookAsync(run, endpoint))).ConfigureAwait(false);
        Found[] live = [.. all.Where(static one => one.Facts is not null)];
        if (live is [{ } only])
        {
            return only.Endpoint;
        }

        foreach (Found one in all)
        {
            run.Out.WriteLine(json ? MessageText.Json(one.Write) : MessageText.Printable($"{one.Endpoint}  {one.Description}"));
        }

        throw live.Length == 0
            ? new ToolException("no process of this user serves diagnostics in the usual place: call context.OpenDiagnostics() in the "
                + "program, or name the endpoint that it has")
            : new ToolException("there are several: name the endpoint of one of them", ExitCode.Usage);
    }

    private static async Task<Found> LookAsync(CommandRun run, string endpoint)
    {
        try
        {
            return new Found(endpoint, await AskAsync(run, endpoint).ConfigureAwait(false), "");
        }
        catch (ZlinkException e) when (e.Error is ZlinkError.ConnectionRefused)
        {
            return new Found(endpoint, null, "left by a process that has ended: delete the file");
        }
        catch (Exception e) when (e is ZlinkException or ToolException)
        {
            return new Found(endpoint, null, e.Message);
        }
    }

    private static async Task<TopSnapshot> AskAsync(CommandRun run, string endpoint) =>
        TopSnapshot.Read(endpoint, await AskForBytesAsync(run, endpoint).ConfigureAwait(false));

    /// <summary>Each answer over a connection of its own: a reader that asks seldom is not ended, and a program may come again.</summary>
    private static async Task<byte[]> AskForBytesAsync(CommandRun run, string endpoint)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(run.Token);
        limit.CancelAfter(s_patience);
        try
        {
            using StreamSocket socket = run.Context.CreateStream(new StreamOptions
            {
                Linger = TimeSpan.Zero,
                MaxMessageSize = TopSnapshot.LongestAnswer,
                TotalReceiveByteLimit = null,
            });
            uint peer = await socket.ConnectAsync(endpoint, limit.Token).ConfigureAwait(false);
            await socket.To(peer).SendAsync("top"u8.ToArray(), limit.Token).ConfigureAwait(false);
            while (true)
            {
                using StreamMessage message = await socket.ReceiveAsync(limit.Token).ConfigureAwait(false);
                if (message.Kind is StreamMessageKind.Data)
                {
                    return message.Payload.ToArray();
                }

                if (message.Kind is StreamMessageKind.Disconnected)
                {
                    throw TopSnapshot.NotDiagnostics(endpoint, "it ended the connection; it may also have its readers already");
                }
            }
        }
        catch (OperationCanceledException) when (!run.Token.IsCancellationRequested)
        {
            throw TopSnapshot.NotDiagnostics(endpoint, "it does not answer");
        }
    }

    /// <summary>An endpoint in the usual place, and who has it, or why it does not answer.</summary>
    private sealed record Found(string Endpoint, TopSnapshot? Facts, string Problem)
    {
        public string Description => Facts?.Title ?? Problem;

        public void Write(Utf8JsonWriter json)
        {
            json.WriteString("endpoint", Endpoint);
            if (Facts is null)
            {
                json.WriteString("problem", Problem);
                return;
            }

            json.WriteString("program", Facts.Program);
            json.WriteNumber("processId", Facts.ProcessId);
            json.WriteString("context", Facts.Context);
        }
    }

    /// <summary>Asks in intervals until the command ends.</summary>
    private sealed class Watch(CommandRun run, string endpoint, TimeSpan interval, bool once)
    {
        public async Task PrintJsonAsync()
        {
            while (true)
            {
                byte[] answer = await AskForBytesAsync(run, endpoint).ConfigureAwait(false);
                _ = TopSnapshot.Read(endpoint, answer);
                using var document = JsonDocument.Parse(answer);
                run.Out.WriteLine(JsonSerializer.Serialize(document.RootElement)); // One line, whatever the process has sent.
                run.IsServer = true; // The end of --timeout is no failure from here on.
                if (once)
                {
                    return;
                }

                await WaitAsync().ConfigureAwait(false);
            }
        }

        public async Task ShowAsync(TopTable table)
        {
            await MeasureAsync(table).ConfigureAwait(false);
            IAnsiConsole console = AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(run.Out) });
            if (!console.Profile.Out.IsTerminal)
            {
                console.Profile.Width = TopTable.WidthOfFile;
            }

            IRenderable Draw() => table.Draw(console.Profile.Width);
            await (console.Profile.Out.IsTerminal && !once
                ? console.Live(Draw()).Overflow(VerticalOverflow.Ellipsis).StartAsync(live =>
                {
                    live.Refresh();
                    return RepeatAsync(table, () => live.UpdateTarget(Draw()));
                })
                : RepeatAsync(table, () => console.Write(Draw()))).ConfigureAwait(false);
        }

        private async Task RepeatAsync(TopTable table, Action show)
        {
            do
            {
                await WaitAsync().ConfigureAwait(false);
                await MeasureAsync(table).ConfigureAwait(false);
                show();
            }
            while (!once);
        }

        private async Task MeasureAsync(TopTable table)
        {
            TopSnapshot facts = await AskAsync(run, endpoint).ConfigureAwait(false);
            table.Add(facts, Stopwatch.GetTimestamp());
            run.IsServer = true;
        }

        private Task WaitAsync() => Task.Delay(interval, run.Token);
    }
}
