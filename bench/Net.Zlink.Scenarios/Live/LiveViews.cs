using System.Text.Json;
using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Results;
using Samples;
using Spectre.Console;

namespace Net.Zlink.Scenarios.Live;

/// <summary>The views there are.</summary>
internal static class LiveViews
{
    /// <param name="isJson">Standard output is for a machine: one JSON object a line.</param>
    /// <param name="isQuiet">Nothing until a round is over.</param>
    public static ILiveView Create(bool isJson, bool isQuiet) =>
        isJson ? new JsonView() : isQuiet ? new ResultView() : Console.IsErrorRedirected ? new LineView() : new PanelView();

    private static void PrintRound(Round round)
    {
        Console.WriteLine(round.Row.ToResultLine());
        Console.WriteLine(round.Row.ToMetricLine());
        if (round.Fault is not null)
        {
            Console.Error.WriteLine($"{round.Stack}, round {round.Number}: {round.Fault}");
        }
    }

    /// <summary>Results only.</summary>
    private sealed class ResultView : ILiveView
    {
        public void Show(string title, LoadProgress? load, ProcessSample? server)
        {
        }

        public void ShowRound(Round round) => PrintRound(round);

        public void Warn(string text) => Console.Error.WriteLine(text);
    }

    /// <summary>A line a second, for logs.</summary>
    private sealed class LineView : ILiveView
    {
        public void Show(string title, LoadProgress? load, ProcessSample? server)
        {
            if (load is { IsPhaseStart: false })
            {
                Console.Error.WriteLine($"{title}: {LiveText.Line(load, server)}");
            }
        }

        public void ShowRound(Round round) => PrintRound(round);

        public void Warn(string text) => Console.Error.WriteLine(text);
    }

    /// <summary>A table that changes in place, in a terminal.</summary>
    private sealed class PanelView : ILiveView
    {
        private readonly LivePanel _panel = new(
            AnsiConsole.Create(new AnsiConsoleSettings { Out = new AnsiConsoleOutput(Console.Error) }), isCleared: true);

        public void Show(string title, LoadProgress? load, ProcessSample? server) => _panel.Show(LiveText.Panel(title, load, server));

        public void ShowRound(Round round)
        {
            _panel.End();
            PrintRound(round);
        }

        public void Warn(string text)
        {
            _panel.End();
            Console.Error.WriteLine(text);
        }
    }

    /// <summary>For machines: what happens is an object with one member, named after what it is.</summary>
    private sealed class JsonView : ILiveView
    {
        public void Show(string title, LoadProgress? load, ProcessSample? server)
        {
            if (load is { IsPhaseStart: false })
            {
                Write(new JsonLine { Progress = new ProgressLine(title, load, server) });
            }
        }

        public void ShowRound(Round round) => Write(new JsonLine { Round = round });

        private static void Write(JsonLine line) => Console.WriteLine(JsonSerializer.Serialize(line, ChildJson.Default.JsonLine));

        public void Warn(string text) => Console.Error.WriteLine(text);
    }
}
