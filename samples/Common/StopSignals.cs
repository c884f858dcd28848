using System.Runtime.InteropServices;

namespace Samples;

/// <summary>Ctrl-C and SIGTERM cancel <paramref name="stop"/> instead of ending the process, so that it can say what it has done. The
/// second one has its usual effect: out, now.</summary>
internal sealed class StopSignals(CancellationTokenSource stop) : IDisposable
{
    private readonly PosixSignalRegistration _interrupt =
        PosixSignalRegistration.Create(PosixSignal.SIGINT, signal => OnSignal(signal, stop));
    private readonly PosixSignalRegistration _terminate =
        PosixSignalRegistration.Create(PosixSignal.SIGTERM, signal => OnSignal(signal, stop));

    public void Dispose()
    {
        _interrupt.Dispose();
        _terminate.Dispose();
    }

    private static void OnSignal(PosixSignalContext signal, CancellationTokenSource stop)
    {
        signal.Cancel = !stop.IsCancellationRequested;
        stop.Cancel();
    }
}
