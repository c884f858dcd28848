using System.Diagnostics;
using Microsoft.Extensions.DependencyInjection;
using Net.Zlink.Extensions.Hosting;
using Net.Zlink.Extensions.OpenTelemetry;
using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using OpenTelemetry.Trace;
using Samples;
using Xunit;

namespace Net.Zlink.Extensions.Tests;

/// <summary>The sample QuoteService as a process of its own: its settings are in its appsettings.json, and it prints its spans.</summary>
public sealed class TwoProcessTests
{
    private const string Bound = "      Receiver \"quotes\" is bound to ";

    [Fact]
    public async Task A_request_and_its_handler_in_another_process_are_one_trace()
    {
        var spans = new List<Activity>();
        await using ChildProcess server = Sample("--Zlink:Receivers:quotes:Bind=tcp://127.0.0.1:*");
        string endpoint = (await server.ReadLineAsync(Bound))[Bound.Length..];
        await using var client = new HostFixture();
        client.Services.AddZlinkJson(Contracts.Default);
        client.Services.AddZlinkClient("quotes", endpoint);
        client.Services.AddOpenTelemetry().WithTracing(tracing => tracing.AddZlinkInstrumentation().AddInMemoryExporter(spans));
        await client.StartAsync();
        RequestClient quotes = client.Get<RequestClient>("quotes");
        Quote quote = await quotes.RequestAsync<Ask, Quote>(new Ask("EUR"), Guard.Limit, Guard.Token).Guarded();
        Assert.Equal(new Quote("EUR", 1.2m), quote);

        var trace = ActivityTraceId.CreateFromString(await SpanFieldAsync(server, "TraceId"));
        var parent = ActivitySpanId.CreateFromString(await SpanFieldAsync(server, "ParentSpanId"));
        Assert.Equal("process quotes", await SpanFieldAsync(server, "DisplayName"));
        Assert.Equal("Consumer", await SpanFieldAsync(server, "Kind"));
        await Guard.UntilAsync(
            () => client.Get<TracerProvider>().ForceFlush() && spans.ToArray().Any(one => one.SpanId == parent),
            "the span of the request was exported, which is the parent of the handler's");
        Activity send = Assert.Single(spans.ToArray(), one => one.SpanId == parent);
        Assert.Equal((trace, ActivityKind.Producer, "request quotes"), (send.TraceId, send.Kind, send.DisplayName));
    }

    [Fact]
    public async Task A_wrong_setting_in_another_process_ends_it_with_the_name_of_the_key()
    {
        await using ChildProcess server = Sample("--Zlink:Receivers:quotes:MaxConcurrency=many");
        string errors = (await server.EndAsync()).Errors;
        Assert.Contains("Zlink:Receivers:quotes:MaxConcurrency", errors, StringComparison.Ordinal);
    }

    private static async Task<string> SpanFieldAsync(ChildProcess server, string field) =>
        (await server.ReadLineAsync($"Activity.{field}:")).Split(':', 2)[1].Trim();

    private static ChildProcess Sample(params string[] arguments) => Programs.Sample("QuoteService", arguments).Start();
}
