using System.Text.Json;
using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Results;

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

    /// <summary>A few lines that change in place, in a terminal.</summary>
    private sealed class PanelView : ILiveView
    {
        private const string Up = "\e[1A";
        private const string ClearLine = "\e[2K\r";

        private int _drawn;

        public void Show(string title, LoadProgress? load, ProcessSample? server)
        {
            Erase();
            int width = Math.Max(40, Console.WindowWidth - 1);
            foreach (string line in LiveText.Panel(title, load, server))
            {
                Console.Error.WriteLine(line.Length > width ? line[..width] : line);
                _drawn++;
            }
        }

        public void ShowRound(Round round)
        {
            Erase();
            PrintRound(round);
        }

        public void Warn(string text)
        {
            Erase();
            Console.Error.WriteLine(text);
        }

        private void Erase()
        {
            for (; _drawn > 0; _drawn--)
            {
                Console.Error.Write(Up + ClearLine);
            }
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
