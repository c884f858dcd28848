namespace Net.Zlink.Extensions.Hosting;

internal abstract class StreamServing
{
    public abstract string Bind(string endpoint);

    public virtual Task DrainAsync(TimeSpan limit, TimeProvider clock, CancellationToken cancellation) => Task.CompletedTask;
}

internal sealed class HandlerServing(StreamSocket socket, StreamHandler handler) : StreamServing
{
    public override string Bind(string endpoint) => socket.Bind(endpoint, handler);
}
