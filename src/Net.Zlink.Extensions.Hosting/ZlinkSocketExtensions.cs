using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Registers sockets with a host: keyed singletons that are bound and connected when the host starts, before its other services
/// start, and drained when it stops.</summary>
public static class ZlinkSocketExtensions
{
    /// <summary>Registers a PAIR, a keyed singleton <see cref="PairSocket"/>.</summary>
    /// <inheritdoc cref="AddZlinkRouter"/>
    public static ZlinkSocketBuilder<PairOptions> AddZlinkPair(
        this IServiceCollection services, string name, string? bind = null, string? connect = null, string context = "") =>
        Add<PairSocket, PairOptions>(services, SocketKinds.Pair, name, bind, connect, context);

    /// <summary>Registers a DEALER, a keyed singleton <see cref="DealerSocket"/>.</summary>
    /// <inheritdoc cref="AddZlinkRouter"/>
    public static ZlinkSocketBuilder<DealerOptions> AddZlinkDealer(
        this IServiceCollection services, string name, string? connect = null, string? bind = null, string context = "") =>
        Add<DealerSocket, DealerOptions>(services, SocketKinds.Dealer, name, bind, connect, context);

    /// <summary>Registers a ROUTER, a keyed singleton <see cref="RouterSocket"/>.</summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="name">The key of the socket, and the name of its section of the configuration.</param>
    /// <param name="bind">Where it binds; null: nowhere, or where the configuration says.</param>
    /// <param name="connect">Where it connects to; null: nowhere, or where the configuration says.</param>
    /// <param name="context">The key of its context; empty: the one without a key.</param>
    /// <returns>The socket, for further settings.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentException">The name is empty, or a socket of that name is registered already.</exception>
    public static ZlinkSocketBuilder<RouterOptions> AddZlinkRouter(
        this IServiceCollection services, string name, string? bind = null, string? connect = null, string context = "") =>
        Add<RouterSocket, RouterOptions>(services, SocketKinds.Router, name, bind, connect, context);

    /// <summary>Registers a PUB, a keyed singleton <see cref="PubSocket"/>.</summary>
    /// <inheritdoc cref="AddZlinkRouter"/>
    public static ZlinkSocketBuilder<PubOptions> AddZlinkPub(
        this IServiceCollection services, string name, string? bind = null, string? connect = null, string context = "") =>
        Add<PubSocket, PubOptions>(services, SocketKinds.Pub, name, bind, connect, context);

    /// <summary>Registers a SUB, a keyed singleton <see cref="SubSocket"/>.</summary>
    /// <inheritdoc cref="AddZlinkRouter"/>
    public static ZlinkSocketBuilder<SubOptions> AddZlinkSub(
        this IServiceCollection services, string name, string? connect = null, string? bind = null, string context = "") =>
        Add<SubSocket, SubOptions>(services, SocketKinds.Sub, name, bind, connect, context);

    /// <summary>Registers an XPUB, a keyed singleton <see cref="XPubSocket"/>.</summary>
    /// <inheritdoc cref="AddZlinkRouter"/>
    public static ZlinkSocketBuilder<XPubOptions> AddZlinkXPub(
        this IServiceCollection services, string name, string? bind = null, string? connect = null, string context = "") =>
        Add<XPubSocket, XPubOptions>(services, SocketKinds.XPub, name, bind, connect, context);

    /// <summary>Registers an XSUB, a keyed singleton <see cref="XSubSocket"/>.</summary>
    /// <inheritdoc cref="AddZlinkRouter"/>
    public static ZlinkSocketBuilder<XSubOptions> AddZlinkXSub(
        this IServiceCollection services, string name, string? connect = null, string? bind = null, string context = "") =>
        Add<XSubSocket, XSubOptions>(services, SocketKinds.XSub, name, bind, connect, context);

    /// <summary>Subscribes to a topic before the socket connects.</summary>
    /// <param name="builder">The SUB.</param>
    /// <param name="topic">The beginning of the messages; empty: all of them.</param>
    /// <returns>The builder.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    public static ZlinkSocketBuilder<SubOptions> Subscribe(this ZlinkSocketBuilder<SubOptions> builder, string topic)
    {
        ArgumentNullException.ThrowIfNull(builder);
        ArgumentNullException.ThrowIfNull(topic);
        builder.Registration.Topics.Add(topic);
        return builder;
    }

    private static ZlinkSocketBuilder<TOptions> Add<TSocket, TOptions>(
        IServiceCollection services, SocketKind<TOptions> kind, string name, string? bind, string? connect, string context)
        where TSocket : ZlinkSocket
        where TOptions : SocketOptions, new()
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(context);
        var registration = new SocketRegistration<TOptions>(kind, name, context);
        services.AddPart(context, Keys.Sockets, name);
        registration.AddOptions(services);
        services.AddKeyedSingleton(name, (provider, _) => (TSocket)registration.Create(provider));
        services.AddKeyedSingleton(name, static (provider, key) => new HostedEnds(provider.GetRequiredKeyedService<TSocket>(key)));
        services.AddSingleton<HostedPart>(provider => new HostedSocket<TOptions>(
            provider, registration, provider.GetRequiredKeyedService<TSocket>(name), provider.GetRequiredService<ILogger<ZlinkHost>>()));
        var builder = new ZlinkSocketBuilder<TOptions>(services, registration);
        _ = bind is null ? builder : builder.Bind(bind);
        _ = connect is null ? builder : builder.Connect(connect);
        return builder;
    }
}
