namespace Net.Zlink.Extensions.Hosting;

/// <summary>Something that begins and ends with the host. The host calls the methods in this order, each once.</summary>
internal abstract class HostedPart
{
    /// <summary>Names the part in logs and errors.</summary>
    public abstract string Description { get; }

    /// <summary>Binds and connects. Before any service of the application starts.</summary>
    public virtual void Open()
    {
    }

    /// <summary>Begins to serve. The handlers of the application are ready.</summary>
    public virtual void Start()
    {
    }

    /// <summary>Becomes known to others. All services of the host have started.</summary>
    public virtual Task AnnounceAsync(CancellationToken cancellation) => Task.CompletedTask;

    /// <summary>Takes no new work, and finishes what is there. Services of the application still run.</summary>
    public virtual Task DrainAsync(DrainClock clock, CancellationToken cancellation) => Task.CompletedTask;

    /// <summary>Ends. Services of the application have stopped.</summary>
    public virtual ValueTask EndAsync() => ValueTask.CompletedTask;
}
