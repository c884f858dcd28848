namespace Net.Zlink.Extensions.Hosting;

/// <summary>What serves the peers of a STREAM socket.</summary>
internal abstract class StreamServing
{
    /// <summary>Listens.</summary>
    /// <returns>The endpoint with what the system filled in.</returns>
    public abstract string Bind(string endpoint);

    /// <summary>Asks the peers' handlers to end, and waits for them.</summary>
    public virtual Task DrainAsync(TimeSpan limit, TimeProvider clock, CancellationToken cancellation) => Task.CompletedTask;
}

/// <summary>One handler for all peers.</summary>
internal sealed class HandlerServing(StreamSocket socket, StreamHandler handler) : StreamServing
{
    public override string Bind(string endpoint) => socket.Bind(endpoint, handler);
}
