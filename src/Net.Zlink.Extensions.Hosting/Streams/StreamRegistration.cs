using Microsoft.Extensions.Configuration;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>What an application said of one STREAM socket.</summary>
internal sealed class StreamRegistration(string name, string contextName)
{
    public string Name { get; } = name;

    public string ContextName { get; } = contextName;

    public List<string> Binds { get; } = [];

    public List<Action<IServiceProvider, StreamOptions>> Configures { get; } = [];

    /// <summary>Makes what serves the peers. Null: the application receives by itself.</summary>
    public Func<IServiceProvider, StreamSocket, StreamServing>? Serving { get; set; }

    public SocketHealthOptions? Health { get; set; }

    /// <summary>Name and key of the health check.</summary>
    public string CheckName => $"zlink-stream-{Name}";

    public string Description => $"STREAM \"{Name}\"";

    public IConfigurationSection? Section(IServiceProvider provider) =>
        Registrations.ContextOf(provider, ContextName).Registration.Section(Keys.Streams, Name);

    public StreamSocket Create(IServiceProvider provider)
    {
        var options = new StreamOptions();
        foreach (Action<IServiceProvider, StreamOptions> configure in Configures)
        {
            configure(provider, options);
        }

        if (Section(provider)?.GetSection(Keys.Options) is { } section)
        {
            ConfigurationErrors.Named(section, () => SocketKinds.Stream.Bind(section, options));
        }

        return Registrations.ContextOf(provider, ContextName).Context.CreateStream(options);
    }

    public SocketHealthCheck CreateCheck(IServiceProvider provider, StreamSocket socket)
    {
        SocketHealthOptions options = Health!;
        if (Section(provider)?.GetSection(Keys.Health) is { } section)
        {
            ConfigurationErrors.Named(section, () => section.Bind(options, static binder => binder.ErrorOnUnknownConfiguration = true));
        }

        return new SocketHealthCheck(socket, options);
    }
}
