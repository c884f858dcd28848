using System.Buffers.Binary;

namespace Net.Zlink.Services;

/// <summary>What an enveloped message is. The numbers are on the wire.</summary>
internal enum EnvelopeKind : byte
{
    /// <summary>Plain parts follow: they begin with what could be taken for an envelope.</summary>
    Plain = 0,
    Request = 1,
    Reply = 2,

    /// <summary>The request was executed, and failed: a code, and a text as the second part.</summary>
    Failed = 3,

    /// <summary>The request was not executed: a code, and a text as the second part.</summary>
    Refused = 4,

    /// <summary>The caller no longer waits for the reply.</summary>
    Cancel = 5,
}

/// <summary>The flags of an envelope, by their bits on the wire.</summary>
[Flags]
internal enum EnvelopeFlags : byte
{
    None = 0,
    Idempotent = 1,
    Copy = 2,

    /// <summary>The receiver that sent this is about to end: it is to be sent no further requests.</summary>
    Draining = 4,
}

/// <summary>Why a receiver did not execute a request. The numbers are on the wire; applications choose theirs from 0x100 on.</summary>
internal static class RefusalCode
{
    public const ushort Draining = 1;
    public const ushort NotServed = 2;
    public const ushort Expired = 3;
    public const ushort Stopped = 4;

    /// <summary>Its serializer does not know the type of the request.</summary>
    public const ushort NoSerializer = 5;
}

/// <summary>Why an executed request failed. The numbers are on the wire.</summary>
internal static class FailureCode
{
    public const ushort HandlerThrew = 1;
    public const ushort NoReply = 2;

    /// <summary>The handler did not see it: it could not be read.</summary>
    public const ushort Malformed = 3;

    /// <summary>The handler has ended, and its reply could not be written.</summary>
    public const ushort ReplyNotWritten = 4;

    public const ushort FirstOfApplications = 256;
}

/// <summary>The first part of a request, and of what answers it. Native processes never send one.</summary>
/// <remarks>
/// Little-endian: magic "ZRP" behind 5A and version 1 (4 bytes), kind u8, flags u8, code u16, id u64, then extensions { type u8, length u8,
/// value }. Unknown extensions, and known ones of a wrong length, are skipped.
/// </remarks>
internal readonly ref struct RequestEnvelope
{
    /// <summary>Bytes before the extensions.</summary>
    public const int HeaderSize = 16;

    /// <summary>Bytes of a W3C traceparent, version 00.</summary>
    public const int TraceParentSize = 55;

    /// <summary>In the last refusal of a drained receiver: all requests of the connection without a reply. No request has it.</summary>
    public const ulong AllIds = 0;

    private const byte TimeLeftExtension = 2;
    private const byte SentAtExtension = 3;
    private const byte ServiceExtension = 4;
    private const byte TraceParentExtension = 5;

    // Longer than an extension may be: all extensions of the number, one behind the other.
    private const byte TraceStateExtension = 6;
    private const byte BaggageExtension = 7;

    private static ReadOnlySpan<byte> Magic => [0x5A, (byte)'R', (byte)'P', 1];

    public EnvelopeKind Kind { get; init; }

    public EnvelopeFlags Flags { get; init; }

    /// <summary>Of kinds Failed and Refused; else 0.</summary>
    public ushort Code { get; init; }

    /// <summary>Unique among the outstanding requests of a gateway; a reply repeats it.</summary>
    public ulong Id { get; init; }

    /// <summary>How much of its time a request had left when it was sent, in whole milliseconds; null: not said.</summary>
    public TimeSpan? TimeLeft { get; init; }

    /// <summary>When it was sent by the sender's clock, in whole milliseconds; null: not said.</summary>
    public DateTimeOffset? SentAt { get; init; }

    /// <summary>The name of the service that is meant, in UTF-8; empty: not said.</summary>
    public ReadOnlySpan<byte> Service { get; init; }

    /// <summary>The caller's span as a W3C traceparent, in text; empty: not said.</summary>
    public ReadOnlySpan<byte> TraceParent { get; init; }

    /// <summary>The caller's W3C tracestate. Only to be written: see <see cref="ReadTrace"/>.</summary>
    public ReadOnlySpan<byte> TraceState { get; init; }

    /// <summary>The caller's W3C baggage. Only to be written: see <see cref="ReadTrace"/>.</summary>
    public ReadOnlySpan<byte> Baggage { get; init; }

    /// <summary>How many bytes <see cref="Write"/> writes.</summary>
    public int Size =>
        HeaderSize + (TimeLeft is null ? 0 : 2 + sizeof(uint)) + (SentAt is null ? 0 : 2 + sizeof(long))
            + (Service.IsEmpty ? 0 : 2 + Service.Length) + (TraceParent.IsEmpty ? 0 : 2 + TraceParent.Length)
            + SizeOfLong(TraceState) + SizeOfLong(Baggage);

    /// <summary>An application's message with such a first part must be sent with an envelope of kind Plain.</summary>
    public static bool HasMagic(ReadOnlySpan<byte> firstPart) => firstPart.StartsWith(Magic);

    /// <summary>Reads a first part.</summary>
    /// <param name="firstPart">Any bytes.</param>
    /// <param name="envelope">Refers to the bytes for its <see cref="Service"/>.</param>
    /// <returns>False: that is no envelope, and the part is the application's.</returns>
    public static bool TryRead(ReadOnlySpan<byte> firstPart, out RequestEnvelope envelope)
    {
        envelope = default;
        if (firstPart.Length < HeaderSize || !HasMagic(firstPart) || firstPart[4] > (byte)EnvelopeKind.Cancel)
        {
            return false;
        }

        TimeSpan? timeLeft = null;
        DateTimeOffset? sentAt = null;
        ReadOnlySpan<byte> service = default;
        ReadOnlySpan<byte> traceParent = default;
        for (ReadOnlySpan<byte> rest = firstPart[HeaderSize..]; !rest.IsEmpty; rest = rest[(2 + rest[1])..])
        {
            if (rest.Length < 2 || rest.Length < 2 + rest[1])
            {
                return false;
            }

            ReadOnlySpan<byte> value = rest.Slice(2, rest[1]);
            switch (rest[0])
            {
                case TimeLeftExtension when value.Length == sizeof(uint):
                    timeLeft = TimeSpan.FromMilliseconds(BinaryPrimitives.ReadUInt32LittleEndian(value));
                    break;
                case SentAtExtension when value.Length == sizeof(long):
                    sentAt = TimeOf(BinaryPrimitives.ReadInt64LittleEndian(value));
                    break;
                case ServiceExtension:
                    service = value;
                    break;
                case TraceParentExtension when value.Length == TraceParentSize:
                    traceParent = value;
                    break;
                default:
                    break;
            }
        }

        envelope = new RequestEnvelope
        {
            Kind = (EnvelopeKind)firstPart[4],
            Flags = (EnvelopeFlags)firstPart[5],
            Code = BinaryPrimitives.ReadUInt16LittleEndian(firstPart[6..]),
            Id = BinaryPrimitives.ReadUInt64LittleEndian(firstPart[8..]),
            TimeLeft = timeLeft,
            SentAt = sentAt,
            Service = service,
            TraceParent = traceParent,
        };
        return true;
    }

    /// <summary>Writes the envelope.</summary>
    /// <returns>How many were written.</returns>
    /// <exception cref="ArgumentException">There are fewer, or the name is longer than 255 bytes.</exception>
    public int Write(Span<byte> destination)
    {
        if (destination.Length < Size || Service.Length > byte.MaxValue)
        {
            throw new ArgumentException(
                $"An envelope of {Size} bytes does not fit {destination.Length}, or its name of {Service.Length} bytes is longer than "
                + $"{byte.MaxValue}.", nameof(destination));
        }

        Magic.CopyTo(destination);
        destination[4] = (byte)Kind;
        destination[5] = (byte)Flags;
        BinaryPrimitives.WriteUInt16LittleEndian(destination[6..], Code);
        BinaryPrimitives.WriteUInt64LittleEndian(destination[8..], Id);
        int length = HeaderSize;
        if (TimeLeft is { } timeLeft)
        {
            Span<byte> value = AddExtension(destination, TimeLeftExtension, sizeof(uint), ref length);
            BinaryPrimitives.WriteUInt32LittleEndian(value, (uint)Math.Clamp(timeLeft.TotalMilliseconds, 0, uint.MaxValue));
        }

        if (SentAt is { } sentAt)
        {
            Span<byte> value = AddExtension(destination, SentAtExtension, sizeof(long), ref length);
            BinaryPrimitives.WriteInt64LittleEndian(value, sentAt.ToUnixTimeMilliseconds());
        }

        if (!Service.IsEmpty)
        {
            Service.CopyTo(AddExtension(destination, ServiceExtension, Service.Length, ref length));
        }

        if (!TraceParent.IsEmpty)
        {
            TraceParent.CopyTo(AddExtension(destination, TraceParentExtension, TraceParent.Length, ref length));
        }

        AddLong(destination, TraceStateExtension, TraceState, ref length);
        AddLong(destination, BaggageExtension, Baggage, ref length);
        return length;
    }

    /// <summary>Reads tracestate and baggage, which only a span needs, of an envelope that <see cref="TryRead"/> has read.</summary>
    /// <param name="firstPart">The envelope.</param>
    /// <param name="state">Gets the tracestate, as far as it fits.</param>
    /// <param name="baggage">Gets the baggage, as far as it fits.</param>
    /// <returns>The bytes of each.</returns>
    public static (int State, int Baggage) ReadTrace(ReadOnlySpan<byte> firstPart, Span<byte> state, Span<byte> baggage)
    {
        (int stateLength, int baggageLength) = (0, 0);
        for (ReadOnlySpan<byte> rest = firstPart[HeaderSize..]; !rest.IsEmpty; rest = rest[(2 + rest[1])..])
        {
            ReadOnlySpan<byte> value = rest.Slice(2, rest[1]);
            if (rest[0] == TraceStateExtension && value.TryCopyTo(state[stateLength..]))
            {
                stateLength += value.Length;
            }
            else if (rest[0] == BaggageExtension && value.TryCopyTo(baggage[baggageLength..]))
            {
                baggageLength += value.Length;
            }
        }

        return (stateLength, baggageLength);
    }

    private static int SizeOfLong(ReadOnlySpan<byte> value) =>
        value.Length + (2 * ((value.Length + byte.MaxValue - 1) / byte.MaxValue));

    private static void AddLong(Span<byte> destination, byte type, ReadOnlySpan<byte> value, ref int length)
    {
        while (!value.IsEmpty)
        {
            ReadOnlySpan<byte> next = value[..Math.Min(value.Length, byte.MaxValue)];
            next.CopyTo(AddExtension(destination, type, next.Length, ref length));
            value = value[next.Length..];
        }
    }

    private static Span<byte> AddExtension(Span<byte> destination, byte type, int valueLength, ref int length)
    {
        destination[length] = type;
        destination[length + 1] = (byte)valueLength;
        Span<byte> value = destination.Slice(length + 2, valueLength);
        length += 2 + valueLength;
        return value;
    }

    /// <summary>A peer may send any number: what is no time is not said.</summary>
    private static DateTimeOffset? TimeOf(long milliseconds) =>
        milliseconds >= DateTimeOffset.MinValue.ToUnixTimeMilliseconds() && milliseconds <= DateTimeOffset.MaxValue.ToUnixTimeMilliseconds()
            ? DateTimeOffset.FromUnixTimeMilliseconds(milliseconds)
            : null;
}
