namespace Net.Zlink.Extensions.Hosting;

internal sealed class StreamRegistration(string name, string contextName)
    : SocketRegistration<StreamOptions>(SocketKinds.Stream, name, contextName)
{
    /// <summary>Null: the application receives by itself.</summary>
    public Func<IServiceProvider, StreamSocket, StreamServing>? Serving { get; set; }

    // The name as it was given: it is often an endpoint.
    public override string CheckName => $"zlink-stream-{Name}";

    protected override string SectionKey => Keys.Streams;
}
