using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Services;

namespace Net.Zlink.Extensions.Hosting;

/// <summary>What an application said of one client.</summary>
/// <param name="Service">The service, which is also the key.</param>
/// <param name="Endpoint">Where its receiver listens; null: the gateway knows.</param>
/// <param name="Gateway">The key of the gateway.</param>
/// <param name="ContextName">The context of a client with an endpoint.</param>
internal sealed record ClientRegistration(string Service, string? Endpoint, string Gateway, string ContextName)
{
    public Func<IServiceProvider, IRequestPolicy>? Policy { get; set; }

    public RequestClient Create(IServiceProvider provider)
    {
        IMessageSerializer serializer = SerializerOf(provider);
        IRequestPolicy? policy = Policy?.Invoke(provider);
        return Endpoint is null
            ? new RequestClient(provider.GetRequiredKeyedService<HostedGateway>(Gateway).Gateway.GetService(Service), serializer, policy)
            : new RequestClient(
                Registrations.ContextOf(provider, ContextName).Context, Endpoint, serializer, Service, options: null, policy);
    }

    public static IMessageSerializer SerializerOf(IServiceProvider provider) =>
        provider.GetService<IMessageSerializer>() ?? throw new InvalidOperationException(
            "There is no serializer: call services.AddZlinkJson(Contracts.Default), or register an IMessageSerializer.");
}
