using System.Reflection;
using Microsoft.Extensions.Logging;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Extensions.Nats;
using Net.Zlink.Extensions.ServiceDiscovery;
using Net.Zlink.Services;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>A log method that takes an endpoint as a text could print its secrets.</summary>
public sealed class LogMethodTests
{
    private static readonly string[] Endpoints = ["endpoint", "address", "registry", "publisher", "router", "remote", "other", "connected"];

    private static readonly Type[] OfEachLibrary =
    [
        typeof(ZlinkContext), typeof(ServiceGateway), typeof(ZlinkStreamExtensions), typeof(NatsServiceDirectory),
        typeof(ServiceDiscoveryDirectory),
    ];

    [Fact]
    public void Log_methods_take_endpoints_as_RedactedEndpoint()
    {
        ParameterInfo[] all =
        [
            .. from library in OfEachLibrary
               from method in LogMethodsOf(library)
               from parameter in method.GetParameters()
               where Endpoints.Contains(parameter.Name, StringComparer.Ordinal)
               select parameter,
        ];
        Assert.True(all.Length > 50, $"only {all.Length} parameters were found");
        Assert.All(all, static parameter => Assert.True(
            parameter.ParameterType == typeof(RedactedEndpoint),
            $"{parameter.Member.DeclaringType!.Name}.{parameter.Member.Name}: {parameter}"));
    }

    [Fact]
    public void An_event_id_is_that_of_one_log_method_of_its_library() => Assert.All(OfEachLibrary, static library =>
    {
        int[] ids = [.. LogMethodsOf(library).Select(static method => method.GetCustomAttribute<LoggerMessageAttribute>()!.EventId)];
        Assert.NotEmpty(ids);
        Assert.Equal(ids.Distinct(), ids);
    });

    private static IEnumerable<MethodInfo> LogMethodsOf(Type library) =>
        from type in library.Assembly.GetTypes()
        from method in type.GetMethods(BindingFlags.Static | BindingFlags.Public | BindingFlags.DeclaredOnly)
        where method.IsDefined(typeof(LoggerMessageAttribute))
        select method;
}
