using Net.Zlink.Services;
using Xunit;

namespace Net.Zlink.Fuzzing;

/// <summary>The first part of a request or a reply.</summary>
internal sealed class EnvelopeTarget : FuzzTarget
{
    private const int LongestTrace = 512;

    public override IEnumerable<byte[]> Seeds =>
    [
        Write(new RequestEnvelope { Kind = EnvelopeKind.Reply, Id = 7 }),
        Write(new RequestEnvelope
        {
            Kind = EnvelopeKind.Request,
            Flags = EnvelopeFlags.Idempotent,
            Id = 8,
            TimeLeft = TimeSpan.FromSeconds(3),
            SentAt = DateTimeOffset.UnixEpoch,
            Service = "service"u8,
            TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"u8,
            TraceState = "a=b"u8,
            Baggage = new byte[300],
        }),
    ];

    public override byte[][] Words =>
        [[2, 4, 0, 0, 0, 0], [3, 8, 0, 0, 0, 0, 0, 0, 0, 0x80], [4, 1, (byte)'s'], [5, 55], [6, 1, 1], [7, 255]];

    protected override void Try(byte[] input)
    {
        if (!RequestEnvelope.TryRead(input, out RequestEnvelope read))
        {
            return;
        }

        Assert.True(RequestEnvelope.HasMagic(input));
        byte[] written = WriteAgain(input, read);
        Assert.True(written.Length <= input.Length, "what was read is longer than what came");
        Assert.True(RequestEnvelope.TryRead(written, out RequestEnvelope again));
        Assert.Equal((read.Kind, read.Flags, read.Code, read.Id, read.TimeLeft, read.SentAt),
            (again.Kind, again.Flags, again.Code, again.Id, again.TimeLeft, again.SentAt));
        Assert.Equal(read.Service, again.Service);
        Assert.Equal(read.TraceParent, again.TraceParent);
        Assert.Equal(written, WriteAgain(written, again));
    }

    private static byte[] WriteAgain(byte[] bytes, RequestEnvelope read)
    {
        Span<byte> state = stackalloc byte[LongestTrace];
        Span<byte> baggage = stackalloc byte[LongestTrace];
        (int stateLength, int baggageLength) = RequestEnvelope.ReadTrace(bytes, state, baggage);
        return Write(new RequestEnvelope
        {
            Kind = read.Kind,
            Flags = read.Flags,
            Code = read.Code,
            Id = read.Id,
            TimeLeft = read.TimeLeft,
            SentAt = read.SentAt,
            Service = read.Service,
            TraceParent = read.TraceParent,
            TraceState = state[..stateLength],
            Baggage = baggage[..baggageLength],
        });
    }

    private static byte[] Write(RequestEnvelope envelope)
    {
        var bytes = new byte[envelope.Size];
        Assert.Equal(bytes.Length, envelope.Write(bytes));
        return bytes;
    }
}
