using System.Diagnostics.CodeAnalysis;
using System.Text.Json.Serialization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Logging;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>Registers receivers, gateways, clients, registries and SPOT nodes with a host.</summary>
public static class ZlinkServicesExtensions
{
    private const DynamicallyAccessedMemberTypes Constructors = DynamicallyAccessedMemberTypes.PublicConstructors;

    /// <summary>Registers the serializer of the host's clients and receivers: System.Text.Json by reflection, for all types. Where a
    /// further call has a context that knows a type, that context is used.</summary>
    /// <param name="services">The services of the host.</param>
    /// <returns>The services.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="services"/> is null.</exception>
    /// <inheritdoc cref="JsonMessageSerializer.JsonMessageSerializer()" path="/exception"/>
    [RequiresUnreferencedCode("Give a context where the program is trimmed: AddZlinkJson(Contracts.Default).")]
    [RequiresDynamicCode("Give a context where the program is compiled ahead of time: AddZlinkJson(Contracts.Default).")]
    public static IServiceCollection AddZlinkJson(this IServiceCollection services)
    {
        ArgumentNullException.ThrowIfNull(services);
        return services.AddSingleton<IMessageSerializer>(JsonOf(services)?.WithReflection() ?? new JsonMessageSerializer());
    }

    /// <summary>Registers the serializer of the host's clients and receivers: System.Text.Json without reflection, so trimming and
    /// ahead-of-time compilation work. A further call adds the types of its context, with the naming and the converters of that context;
    /// the first one that knows a type counts.</summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="context">A source-generated context, such as <c>Contracts.Default</c>.</param>
    /// <returns>The services.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    public static IServiceCollection AddZlinkJson(this IServiceCollection services, JsonSerializerContext context)
    {
        ArgumentNullException.ThrowIfNull(services);
        return services.AddSingleton<IMessageSerializer>(JsonOf(services)?.With(context) ?? new JsonMessageSerializer(context));
    }

    /// <summary>Registers a receiver, a keyed singleton <see cref="ServiceReceiver"/>, whose handler is made by the container for each
    /// request,
    /// with a scope of services of its own. The receiver is bound when the host starts, registered when all has started, and drained when
    /// the host stops.</summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="service">The service that it offers, and its key.</param>
    /// <param name="bind">Where it listens; null: where the configuration says.</param>
    /// <param name="context">The key of its context; empty: the one without a key.</param>
    /// <typeparam name="THandler">The handler; registered as scoped, unless it is registered already.</typeparam>
    /// <returns>The receiver, for further settings.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentException">The name is empty, or a receiver of that service is registered already.</exception>
    public static ZlinkReceiverBuilder AddZlinkReceiver<[DynamicallyAccessedMembers(Constructors)] THandler>(
        this IServiceCollection services, string service, string? bind = null, string context = "")
        where THandler : class, IServiceHandler
    {
        ArgumentNullException.ThrowIfNull(services);
        services.TryAddScoped<THandler>();
        return Add(services, service, bind, context, typeof(THandler).Name, static provider =>
        {
            IServiceScopeFactory scopes = provider.GetRequiredService<IServiceScopeFactory>();
            return (request, cancellation) => Scopes.CallAsync<THandler>(scopes, request, cancellation);
        });
    }

    /// <summary>As the other one, for a handler of values.</summary>
    /// <inheritdoc cref="AddZlinkReceiver{THandler}" path="/param"/>
    /// <typeparam name="THandler">The handler; registered as scoped, unless it is registered already.</typeparam>
    /// <typeparam name="TRequest">The request's type.</typeparam>
    /// <typeparam name="TReply">The reply's type.</typeparam>
    /// <inheritdoc cref="AddZlinkReceiver{THandler}" path="/returns"/>
    /// <inheritdoc cref="AddZlinkReceiver{THandler}" path="/exception"/>
    public static ZlinkReceiverBuilder AddZlinkReceiver<[DynamicallyAccessedMembers(Constructors)] THandler, TRequest, TReply>(
        this IServiceCollection services, string service, string? bind = null, string context = "")
        where THandler : class, IRequestHandler<TRequest, TReply>
    {
        ArgumentNullException.ThrowIfNull(services);
        services.TryAddScoped<THandler>();
        return Add(services, service, bind, context, typeof(THandler).Name, static provider =>
        {
            IServiceScopeFactory scopes = provider.GetRequiredService<IServiceScopeFactory>();
            IMessageSerializer serializer = ClientRegistration.SerializerOf(provider);
            Func<TRequest, CancellationToken, ValueTask<TReply>> call =
                (request, cancellation) => Scopes.CallAsync<THandler, TRequest, TReply>(scopes, request, cancellation);
            return (request, cancellation) => request.AnswerAsync(call, serializer, cancellation);
        });
    }

    /// <summary>As the other one, for a handler in a lambda.</summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="service">The service that it offers, and its key.</param>
    /// <param name="bind">Where it listens; null: where the configuration says.</param>
    /// <param name="context">The key of its context; empty: the one without a key.</param>
    /// <param name="handler">Answers each request.</param>
    /// <typeparam name="TRequest">The request's type.</typeparam>
    /// <typeparam name="TReply">The reply's type.</typeparam>
    /// <inheritdoc cref="AddZlinkReceiver{THandler}" path="/returns"/>
    /// <inheritdoc cref="AddZlinkReceiver{THandler}" path="/exception"/>
    public static ZlinkReceiverBuilder AddZlinkReceiver<TRequest, TReply>(
        this IServiceCollection services, string service, string? bind, Func<TRequest, CancellationToken, ValueTask<TReply>> handler,
        string context = "")
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(handler);
        return Add(services, service, bind, context, $"{handler.Method.DeclaringType?.Name}.{handler.Method.Name}", provider =>
        {
            IMessageSerializer serializer = ClientRegistration.SerializerOf(provider);
            return (request, cancellation) => request.AnswerAsync(handler, serializer, cancellation);
        });
    }

    /// <summary>Registers a gateway, a singleton <see cref="ServiceGateway"/>; with a name a keyed one.</summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="configure">Says where receivers are found.</param>
    /// <param name="name">The key of the gateway; empty: none.</param>
    /// <param name="context">The key of its context; empty: the one without a key.</param>
    /// <returns>The services.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentException">A gateway of that name is registered already.</exception>
    public static IServiceCollection AddZlinkGateway(
        this IServiceCollection services, Action<ZlinkGatewayBuilder>? configure = null, string name = "", string context = "")
    {
        ArgumentNullException.ThrowIfNull(services);
        var registration = new GatewayRegistration(name, context);
        services.AddPart(context, GatewayRegistration.SectionOf(name), name);
        services.AddPartOptions<ServiceGatewayOptions>(name, registration.Section,
            static (from, to) => from.Read([to], Keys.FollowRegistries, Keys.Receivers),
            static options => options.Validate(), ServiceDefaults.Set);
        services.AddKeyedSingleton(name, (provider, _) => registration.Create(provider));
        services.AddSingleton<HostedPart>(provider => provider.GetRequiredKeyedService<HostedGateway>(name));
        if (name.Length == 0)
        {
            services.AddSingleton(static provider => provider.GetRequiredKeyedService<HostedGateway>("").Gateway);
        }
        else
        {
            services.AddKeyedSingleton(name, static (provider, key) => provider.GetRequiredKeyedService<HostedGateway>(key).Gateway);
        }

        configure?.Invoke(new ZlinkGatewayBuilder(services, registration));
        return services;
    }

    /// <summary>Registers a client of a service, a keyed singleton <see cref="RequestClient"/>.</summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="service">The service, and the key of the client.</param>
    /// <param name="connect">Where the receiver listens; null: the gateway finds it.</param>
    /// <param name="gateway">The key of the gateway that finds it; empty: the one without a key.</param>
    /// <param name="context">The key of the context of a client that connects by itself.</param>
    /// <returns>The client, for further settings.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentException">The name is empty, or a client of that service is registered already.</exception>
    public static ZlinkClientBuilder AddZlinkClient(
        this IServiceCollection services, string service, string? connect = null, string gateway = "", string context = "")
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentException.ThrowIfNullOrEmpty(service);
        var registration = new ClientRegistration(service, connect, gateway, context);
        services.AddPart(context, Keys.Clients, service);
        services.AddPartOptions<ServiceGatewayOptions>(service, registration.Section,
            static (from, to) => from.Read([to], Keys.Connect, Keys.Health), static options => options.Validate(), ServiceDefaults.Set);
        services.AddKeyedSingleton(service, (provider, _) => registration.Create(provider));
        services.AddKeyedSingleton(service, static (provider, key) => provider.GetRequiredKeyedService<HostedClient>(key).Client);
        services.AddSingleton<HostedPart>(provider => provider.GetRequiredKeyedService<HostedClient>(service));
        return new ZlinkClientBuilder(services, registration);
    }

    /// <summary>Registers a registry, a singleton <see cref="ServiceRegistry"/>, which listens when the host starts. With a context that
    /// has a key it is a keyed service with that key.</summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="publisherEndpoint">Where discoveries connect; null: where the configuration's section <c>Registry</c> says.</param>
    /// <param name="routerEndpoint">Where receivers connect; null: where the configuration says.</param>
    /// <param name="configure">Changes further options.</param>
    /// <param name="context">The key of its context; empty: the one without a key.</param>
    /// <returns>The services.</returns>
    /// <exception cref="ArgumentNullException"><paramref name="services"/> is null.</exception>
    /// <exception cref="ArgumentException">The context has a registry already.</exception>
    public static IServiceCollection AddZlinkRegistry(this IServiceCollection services, string? publisherEndpoint = null,
        string? routerEndpoint = null, Action<ServiceRegistryOptions>? configure = null, string context = "")
    {
        ArgumentNullException.ThrowIfNull(services);
        services.AddPart(context, Keys.Registry, "");
        services.AddPartOptions<ServiceRegistryOptions>(
            context, provider => provider.SettingOf(context, Keys.Registry, ""), static (from, to) => from.Read([to]),
            static options => options.Validate(),
            (options, _) => (options.PublisherEndpoint, options.RouterEndpoint) = (publisherEndpoint ?? "", routerEndpoint ?? ""));
        if (configure is not null)
        {
            services.Configure(context, configure);
        }

        Func<IServiceProvider, object?, HostedRegistry> create = (provider, _) =>
        {
            HostedContext hosted = Registrations.ContextOf(provider, context);
            var registry = new ServiceRegistry(hosted.Context, PartOptions.Of<ServiceRegistryOptions>(provider, context));
            return new HostedRegistry(registry, provider.GetRequiredService<ILogger<ZlinkHost>>());
        };
        services.AddKeyedSingleton(context, create);
        services.AddSingleton<HostedPart>(provider => provider.GetRequiredKeyedService<HostedRegistry>(context));
        return context.Length == 0
            ? services.AddSingleton(static provider => provider.GetRequiredKeyedService<HostedRegistry>("").Registry)
            : services.AddKeyedSingleton(context, static (provider, key) => provider.GetRequiredKeyedService<HostedRegistry>(key).Registry);
    }

    /// <summary>Registers a SPOT node, a keyed singleton <see cref="SpotNode"/>.</summary>
    /// <param name="services">The services of the host.</param>
    /// <param name="name">The key of the node, and the name of its section of the configuration.</param>
    /// <param name="bind">Where other nodes connect; null: nowhere, or where the configuration says.</param>
    /// <param name="configure">Says where other nodes are found.</param>
    /// <param name="context">The key of its context; empty: the one without a key.</param>
    /// <returns>The services.</returns>
    /// <exception cref="ArgumentNullException">An argument is null.</exception>
    /// <exception cref="ArgumentException">The name is empty, or a node of that name is registered already.</exception>
    public static IServiceCollection AddZlinkSpotNode(this IServiceCollection services, string name, string? bind = null,
        Action<ZlinkSpotNodeBuilder>? configure = null, string context = "")
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentException.ThrowIfNullOrEmpty(name);
        var registration = new SpotNodeRegistration(name, context);
        services.AddPart(context, Keys.SpotNodes, name);
        services.AddPartOptions<SpotNodeOptions>(name, registration.Section,
            static (from, to) => from.Read([to], Keys.Bind, Keys.Connect, Keys.Registries, Keys.FollowRegistries),
            static options => options.Validate(), ServiceDefaults.Set);
        services.AddKeyedSingleton(name, (provider, _) => registration.Create(provider));
        services.AddSingleton<HostedPart>(provider => new HostedSpotNode(
            provider, registration, provider.GetRequiredKeyedService<SpotNode>(name), provider.GetRequiredService<ILogger<ZlinkHost>>()));
        if (bind is not null)
        {
            registration.Binds.Add(bind);
        }

        configure?.Invoke(new ZlinkSpotNodeBuilder(services, registration));
        return services;
    }

    private static JsonMessageSerializer? JsonOf(IServiceCollection services) => services.LastOrDefault(
        static one => one.ServiceType == typeof(IMessageSerializer) && !one.IsKeyedService)
        ?.ImplementationInstance as JsonMessageSerializer;

    private static ZlinkReceiverBuilder Add(IServiceCollection services, string service, string? bind, string context, string handlerName,
        Func<IServiceProvider, Func<ServiceRequest, CancellationToken, ValueTask>> handler)
    {
        ArgumentException.ThrowIfNullOrEmpty(service);
        var registration = new ReceiverRegistration(service, context, handlerName, handler);
        services.AddPart(context, Keys.Receivers, service);
        services.AddPartOptions<ServiceReceiverOptions>(service, registration.Section,
            (from, to) => from.Read([to, registration.Settings], Keys.Bind, Keys.Registries, Keys.Health),
            static options => options.Validate(), ServiceDefaults.Set);
        services.AddKeyedSingleton(service, (provider, _) => registration.Create(provider));
        services.AddKeyedSingleton(service, (provider, _) => new HostedReceiver(
            provider, registration, provider.GetRequiredKeyedService<ServiceReceiver>(service),
            provider.GetRequiredService<ILogger<ZlinkHost>>()));
        services.AddSingleton<HostedPart>(provider => provider.GetRequiredKeyedService<HostedReceiver>(service));
        if (bind is not null)
        {
            registration.Binds.Add(bind);
        }

        return new ZlinkReceiverBuilder(services, registration);
    }
}
