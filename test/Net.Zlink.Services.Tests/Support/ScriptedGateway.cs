using System.Text;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Services.Tests;

/// <summary>A gateway that sends what a test tells it: envelopes byte for byte, over a DEALER.</summary>
internal sealed class ScriptedGateway : IDisposable
{
    private readonly MessageBuilder _builder = new();

    public ScriptedGateway(ZlinkContext context, string endpoint, RoutingId routingId = default)
    {
        var options = new DealerOptions { Linger = TimeSpan.Zero };
        if (!routingId.IsEmpty)
        {
            options.RoutingId = routingId;
        }

        Socket = context.CreateDealer(options);
        Socket.Connect(endpoint);
    }

    public DealerSocket Socket { get; }

    public void Request(ulong id, string payload, TimeSpan? timeLeft = null, DateTimeOffset? sentAt = null, string service = "") =>
        Send(new RequestEnvelope
        {
            Kind = EnvelopeKind.Request,
            Id = id,
            TimeLeft = timeLeft,
            SentAt = sentAt,
            Service = Encoding.UTF8.GetBytes(service)
        }, payload);

    public void Cancel(ulong id) => Send(new RequestEnvelope { Kind = EnvelopeKind.Cancel, Id = id });

    public void Send(in RequestEnvelope envelope, params ReadOnlySpan<string> parts)
    {
        envelope.Write(_builder.AddSpace(envelope.Size));
        foreach (string part in parts)
        {
            _builder.Add(part);
        }

        Socket.Send(_builder, Guard.Limit);
    }

    public void SendPlain(string payload) => Socket.Send(Encoding.UTF8.GetBytes(payload), Guard.Limit);

    public async Task<Answer> ReceiveAsync()
    {
        using Message message = await Socket.ReceiveAsync(Guard.Token).Guarded();
        return RequestEnvelope.TryRead(message.Span, out RequestEnvelope envelope)
            ? new Answer(envelope.Kind, envelope.Flags, envelope.Code, envelope.Id,
                string.Join('|', message.ToArrays().Skip(1).Select(Encoding.UTF8.GetString)))
            : new Answer(null, EnvelopeFlags.None, 0, 0, string.Join('|', message.ToArrays().Select(Encoding.UTF8.GetString)));
    }

    public void Dispose()
    {
        Socket.Dispose();
        _builder.Dispose();
    }

    /// <param name="Kind">Null: it came without an envelope.</param>
    /// <param name="Flags">Of the envelope.</param>
    /// <param name="Code">Of the envelope.</param>
    /// <param name="Id">Of the envelope.</param>
    /// <param name="Text">The parts behind it, with bars between.</param>
    public sealed record Answer(EnvelopeKind? Kind, EnvelopeFlags Flags, ushort Code, ulong Id, string Text);
}
