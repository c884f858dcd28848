namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>Ends the process, and says how the sockets stand, when a measurement makes no progress: a message that never comes is not to be
/// waited for.</summary>
internal sealed class StallWatch : IDisposable
{
    // A thousand messages of a megabyte take a second on a slow machine; a pause of the whole machine some seconds.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    private readonly Func<IEnumerable<string>> _describe;
    private readonly Timer _timer;
    private long _progress;
    private long _seen = -1;

    public StallWatch(Func<IEnumerable<string>> describe)
    {
        _describe = describe;
        _timer = new Timer(_ => Look(), state: null, Patience, Patience);
    }

    public void Progressed() => Interlocked.Increment(ref _progress);

    public void Dispose() => _timer.Dispose();

    private void Look()
    {
        long progress = Interlocked.Read(ref _progress);
        if (Interlocked.Exchange(ref _seen, progress) != progress)
        {
            return;
        }

        Console.Error.WriteLine($"stalled: no progress for {Patience.TotalSeconds:0} s");
        foreach (string line in _describe())
        {
            Console.Error.WriteLine(line);
        }

        Environment.Exit(1);
    }
}
