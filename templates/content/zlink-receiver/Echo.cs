using System.Text.Json.Serialization;
using Net.Zlink.Extensions.Hosting;

namespace ZlinkApp1;

internal static class Echo
{
    public static void AddEcho(this IHostApplicationBuilder builder)
    {
        builder.Services.AddZlink(builder.Configuration.GetSection("Zlink"));
        builder.Services.AddZlinkJson(Contracts.Default);
        builder.Services.AddZlinkReceiver<EchoHandler, EchoRequest, EchoReply>("echo").AddHealthCheck(); // appsettings.json says where.
    }
}

/// <summary>What a client asks.</summary>
public sealed record EchoRequest(string Text);

/// <summary>What it gets.</summary>
public sealed record EchoReply(string Text);

/// <summary>Answers each request; made for each, with a scope of services of its own.</summary>
internal sealed class EchoHandler(ILogger<EchoHandler> logger) : IRequestHandler<EchoRequest, EchoReply>
{
    public ValueTask<EchoReply> HandleAsync(EchoRequest request, CancellationToken cancellationToken)
    {
        logger.LogInformation("A request of {Length} characters", request.Text.Length);
        return ValueTask.FromResult(new EchoReply(request.Text));
    }
}

[JsonSerializable(typeof(EchoRequest))]
[JsonSerializable(typeof(EchoReply))]
internal sealed partial class Contracts : JsonSerializerContext;
