using System.Diagnostics;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>The name by which traces of the services are collected. Their metrics belong to the meter of their context:
/// <see cref="ZlinkLibrary.MeterName"/>.</summary>
public static class ServicesInstrumentation
{
    /// <summary>The source of the spans of requests: <c>request</c> at the client, <c>process</c> at the receiver.</summary>
    public const string ActivitySourceName = "Net.Zlink.Services";
}

/// <summary>Spans around requests, named after OpenTelemetry's conventions for messaging. Without a listener a request costs one check of
/// <see cref="Activity.Current"/>, which is passed on all the same.</summary>
internal static class ServicesTracing
{
    private static readonly ActivitySource Source = new(ServicesInstrumentation.ActivitySourceName);

    /// <summary>What <see cref="WriteFields"/> needs.</summary>
    public const int FieldsSize = BaggageText.MaxStateSize + BaggageText.MaxSize;

    public static bool IsOn => Source.HasListeners();

    /// <summary>The span that a request belongs to; null where it has no W3C id.</summary>
    public static Activity? CurrentSpan =>
        Activity.Current is { IdFormat: ActivityIdFormat.W3C } current ? current : null;

    /// <summary>Writes the id of a span.</summary>
    /// <returns>The bytes; none without a span, or where its id has another version's length.</returns>
    public static ReadOnlySpan<byte> Write(Activity? span, Span<byte> destination) =>
        span?.Id is { Length: RequestEnvelope.TraceParentSize } id ? destination[..Encoding.ASCII.GetBytes(id, destination)] : default;

    /// <summary>Writes tracestate and baggage of a span, within their limits.</summary>
    /// <param name="span">The span; null: there is none.</param>
    /// <param name="destination">Of <see cref="FieldsSize"/> bytes.</param>
    /// <param name="state">The tracestate.</param>
    /// <returns>The baggage.</returns>
    public static ReadOnlySpan<byte> WriteFields(Activity? span, Span<byte> destination, out ReadOnlySpan<byte> state)
    {
        state = default;
        if (span is null)
        {
            return default;
        }

        Span<byte> ofState = destination[..BaggageText.MaxStateSize];
        state = ofState[..BaggageText.WriteState(span.TraceStateString, ofState)];
        Span<byte> baggage = destination[BaggageText.MaxStateSize..];
        return baggage[..BaggageText.Write(span, baggage)];
    }

    public static async ValueTask<ServiceReply> SendAsync(string service, Func<ValueTask<ServiceReply>> send)
    {
        using Activity? span = Source.StartActivity($"request {service}", ActivityKind.Producer);
        Describe(span, service, "request", "send");
        try
        {
            ServiceReply reply = await send().ConfigureAwait(false);
            SetServer(span, reply.Receiver.Endpoint);
            span?.SetTag("zlink.request.attempts", reply.Attempts);
            return reply;
        }
        catch (Exception e)
        {
            Fail(span, e);
            throw;
        }
    }

    public static async ValueTask ProcessAsync(
        Func<ServiceRequest, CancellationToken, ValueTask> handler, ServiceRequest request, CancellationToken cancellation)
    {
        Activity.Current = null; // The span in which ServeAsync was called is no parent of a request.
        string service = request.Service;
        using Activity? span = Source.StartActivity($"process {service}", ActivityKind.Consumer, ParentOf(request.Message.Span));
        AddBaggage(span, request.Message.Span);
        Describe(span, service, "process", "process");
        try
        {
            await handler(request, cancellation).ConfigureAwait(false);
        }
        catch (Exception e)
        {
            Fail(span, e);
            throw;
        }
    }

    private static ActivityContext ParentOf(ReadOnlySpan<byte> firstPart)
    {
        if (!RequestEnvelope.TryRead(firstPart, out RequestEnvelope envelope) || envelope.TraceParent.IsEmpty)
        {
            return default;
        }

        Span<byte> state = stackalloc byte[BaggageText.MaxStateSize];
        int length = RequestEnvelope.ReadTrace(firstPart, state, default).State;
        return ActivityContext.TryParse(
            Encoding.ASCII.GetString(envelope.TraceParent), length == 0 ? null : Encoding.ASCII.GetString(state[..length]), isRemote: true,
            out ActivityContext parent)
            ? parent : default;
    }

    private static void AddBaggage(Activity? span, ReadOnlySpan<byte> firstPart)
    {
        Span<byte> baggage = stackalloc byte[BaggageText.MaxSize];
        if (span is null || !RequestEnvelope.TryRead(firstPart, out _)
            || RequestEnvelope.ReadTrace(firstPart, default, baggage).Baggage is not (> 0 and var length))
        {
            return;
        }

        foreach ((string key, string? value) in BaggageText.Read(baggage[..length]).Reverse())
        {
            span.AddBaggage(key, value); // The last one that is added is the first one that is listed.
        }
    }

    private static void Describe(Activity? span, string service, string operation, string operationType)
    {
        span?.SetTag(MessagingTags.System, MessagingTags.Zlink);
        span?.SetTag(MessagingTags.Destination, service);
        span?.SetTag(MessagingTags.OperationName, operation);
        span?.SetTag(MessagingTags.OperationType, operationType);
    }

    /// <summary>The host and the port; of ipc and inproc the path or the name.</summary>
    private static void SetServer(Activity? span, string endpoint)
    {
        if (span is null || !ZlinkEndpoint.TryParse(endpoint, out ZlinkEndpoint? server))
        {
            return;
        }

        span.SetTag(MessagingTags.ServerAddress, server.Host.Length > 0 ? server.Host : server.Path);
        if (server.Port is { } port)
        {
            span.SetTag(MessagingTags.ServerPort, port);
        }
    }

    private static void Fail(Activity? span, Exception exception)
    {
        span?.SetTag(MessagingTags.Error, ErrorTypes.Of(exception));
        span?.SetStatus(ActivityStatusCode.Error, exception.Message);
    }
}
