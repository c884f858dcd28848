namespace Net.Zlink.Extensions.Hosting;

/// <summary>The host calls the methods in this order, each once.</summary>
internal abstract class HostedPart
{
    public abstract string Description { get; }

    /// <summary>Reads the settings and binds, before any service of the application starts.</summary>
    public virtual void Open()
    {
    }

    /// <summary>All parts are bound: one that connects to another finds it there.</summary>
    public virtual void Connect()
    {
    }

    /// <summary>The handlers of the application are ready.</summary>
    public virtual void Start()
    {
    }

    /// <summary>All services of the host have started.</summary>
    public virtual Task AnnounceAsync(CancellationToken cancellation) => Task.CompletedTask;

    /// <summary>Services of the application still run.</summary>
    public virtual Task DrainAsync(DrainClock clock, CancellationToken cancellation) => Task.CompletedTask;

    /// <summary>Services of the application have stopped.</summary>
    public virtual ValueTask EndAsync() => ValueTask.CompletedTask;
}
