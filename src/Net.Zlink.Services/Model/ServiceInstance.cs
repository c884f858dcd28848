namespace Net.Zlink.Services;

/// <summary>One place where a service is: immutable, compared by value.</summary>
/// <param name="Service">The name of the service.</param>
/// <param name="Endpoint">Where it is bound, as text that sockets connect to.</param>
/// <param name="RoutingId">The id that it registered with; empty where nobody said one.</param>
/// <param name="Weight">Its share with weighted load balancing, 1 or more.</param>
public sealed record ServiceInstance(string Service, string Endpoint, RoutingId RoutingId = default, uint Weight = 1);
