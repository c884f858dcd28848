using System.Globalization;
using System.Text.Unicode;

namespace EchoServer.Demo;

/// <summary>Says which step runs and how far it is: a line that rewrites itself on a terminal, one line a step elsewhere.</summary>
internal sealed class DemoProgress(Screen screen, bool quiet)
{
    private const int BarWidth = 12;

    private readonly byte[] _line = new byte[256];
    private int _headingLength;
    private int _stepNumber = -1; // the warm-up is step 0

    /// <summary>The next step begins.</summary>
    public void Begin(DemoStep step, string phase)
    {
        _stepNumber++;
        Utf8.TryWrite(
            _line,
            CultureInfo.InvariantCulture,
            $"[{_stepNumber}/{DemoPlan.Steps.Length}] {step.Connections,5:N0} connections x {step.InFlight,2} in flight  {phase}",
            out _headingLength);
        if (!quiet)
        {
            screen.ShowLive(_line.AsSpan(0, _headingLength));
        }
    }

    /// <summary>Called ten times a second while clients are being measured, so it allocates nothing.</summary>
    public void Show(double done, double messagesPerSecond)
    {
        if (!quiet && screen.IsTerminal)
        {
            Utf8.TryWrite(
                _line.AsSpan(_headingLength),
                CultureInfo.InvariantCulture,
                $" |{new Bar(done, BarWidth, screen.HasBlocks)}| {messagesPerSecond,9:N0} msg/s",
                out int length);
            screen.ShowLive(_line.AsSpan(0, _headingLength + length));
        }
    }
}
