namespace Net.Zlink.Extensions.Hosting;

internal sealed class StreamRegistration(string name, string contextName)
    : SocketRegistration<StreamOptions>(SocketKinds.Stream, name, contextName)
{
    /// <summary>Null: the application receives by itself.</summary>
    public Func<IServiceProvider, StreamSocket, StreamServing>? Serving { get; set; }

    // The name as it was given, without lower case: it is often an endpoint.
    public override string CheckName => $"zlink-stream-{ShownName}";

    protected override string ShownName => Registrations.Shown(Name);

    protected override string SectionKey => Keys.Streams;
}
