using System.Numerics;
using System.Runtime.CompilerServices;
using System.Text;

namespace Net.Zlink.Services;

/// <summary>The frames of one service message, wherever they lie. It owns nothing: a received message has to outlive it.</summary>
internal readonly struct Frames
{
    private readonly Message _message;
    private readonly byte[][]? _arrays;

    public Frames(in Message message)
    {
        _message = message;
        Count = message.PartCount;
    }

    public Frames(byte[][] arrays)
    {
        _arrays = arrays;
        Count = arrays.Length;
    }

    public int Count { get; }

    public ReadOnlySpan<byte> this[int index] => _arrays is not null ? _arrays[index] : _message[index].Span;

    public bool TryReadUInt16(int index, out ushort value) => TryRead(index, out value);

    public bool TryReadUInt32(int index, out uint value) => TryRead(index, out value);

    public bool TryReadUInt64(int index, out ulong value) => TryRead(index, out value);

    /// <summary>A weight: 1 where the frame is missing, malformed, or says 0.</summary>
    public uint ReadWeight(int index) => TryReadUInt32(index, out uint weight) && weight != 0 ? weight : 1;

    /// <summary>A numeric frame is well formed only with its exact size.</summary>
    private bool TryRead<T>(int index, out T value)
        where T : unmanaged, IBinaryInteger<T>
    {
        value = default;
        return index < Count && this[index].Length == Unsafe.SizeOf<T>()
            && T.TryReadLittleEndian(this[index], isUnsigned: true, out value);
    }
}

/// <summary>Frames of numbers, little-endian, envelopes, and copies of frames.</summary>
internal static class FrameWriting
{
    public static MessageBuilder AddParts(this MessageBuilder message, MessageBuilder parts)
    {
        for (int i = 0; i < parts.Count; i++)
        {
            message.Add(parts[i]);
        }

        return message;
    }

    public static MessageBuilder AddEnvelope(this MessageBuilder message, scoped in RequestEnvelope envelope)
    {
        envelope.Write(message.AddSpace(envelope.Size));
        return message;
    }

    public static MessageBuilder AddUInt16(this MessageBuilder message, ushort value) => AddNumber(message, value);

    public static MessageBuilder AddUInt32(this MessageBuilder message, uint value) => AddNumber(message, value);

    public static MessageBuilder AddUInt64(this MessageBuilder message, ulong value) => AddNumber(message, value);

    private static MessageBuilder AddNumber<T>(MessageBuilder message, T value)
        where T : unmanaged, IBinaryInteger<T>
    {
        value.WriteLittleEndian(message.AddSpace(Unsafe.SizeOf<T>()));
        return message;
    }
}

/// <summary>What receivers and nodes send to a registry, and its answer (docs/protocol.md, "Service messages").</summary>
internal static class RegistrationFrames
{
    private const int MarkFrame = 4;

    // "ZRG" and the version, as envelopes begin with "ZRP" and theirs.
    private static ReadOnlySpan<byte> Mark => [0x5A, 0x52, 0x47, 1];

    /// <summary>REGISTER or UPDATE_WEIGHT.</summary>
    public static void WriteRegister(MessageBuilder message, ushort id, ushort kind, ReadOnlySpan<byte> service,
        ReadOnlySpan<byte> endpoint, uint weight) =>
        message.AddUInt16(id).AddUInt16(kind).Add(service).Add(endpoint).AddUInt32(weight);

    /// <summary>UNREGISTER or HEARTBEAT, which have no answer.</summary>
    public static void WriteShort(MessageBuilder message, ushort id, ushort kind, ReadOnlySpan<byte> service,
        ReadOnlySpan<byte> endpoint) =>
        message.AddUInt16(id).AddUInt16(kind).Add(service).Add(endpoint);

    /// <summary>REGISTER_ACK as the native registry sends it.</summary>
    public static void WriteAck(MessageBuilder message, byte status, ReadOnlySpan<byte> endpoint, string error) =>
        message.AddUInt16(MessageIds.RegisterAck).Add([status]).Add(endpoint).Add(error);

    /// <summary>A trailing frame of a REGISTER_ACK, which native readers skip: the registry is one of Net.Zlink. A repeated REGISTER
    /// costs it no list, renews the lease and brings back a lost entry, so heartbeats may be answered ones.</summary>
    public static MessageBuilder AddMark(this MessageBuilder ack) => ack.Add(Mark);

    /// <summary>Whether a REGISTER_ACK came from a registry of Net.Zlink. Longer marks, and later versions, are marks, too.</summary>
    public static bool HasMark(in Frames frames) =>
        frames.Count > MarkFrame && frames[MarkFrame] is { Length: >= 4 } mark && mark[..3].SequenceEqual(Mark[..3]) && mark[3] >= Mark[3];

    /// <summary>Reads a REGISTER_ACK as leniently as the native receiver.</summary>
    /// <returns>False: it is none.</returns>
    public static bool TryReadAck(in Frames frames, out byte status, out string error)
    {
        status = AckStatus.Malformed;
        error = "";
        if (frames.Count < 2 || !frames.TryReadUInt16(0, out ushort id) || id != MessageIds.RegisterAck)
        {
            return false;
        }

        status = frames[1] is [byte only] ? only : AckStatus.Malformed;
        error = frames.Count > 3 ? Encoding.UTF8.GetString(frames[3]) : "";
        return true;
    }
}

/// <summary>The first frame of every service message, 16 bits, little-endian.</summary>
internal static class MessageIds
{
    public const ushort Register = 0x0001;
    public const ushort RegisterAck = 0x0002;
    public const ushort Unregister = 0x0003;
    public const ushort Heartbeat = 0x0004;
    public const ushort ServiceList = 0x0005;

    /// <summary>A registry's own entries alone, for its peers. The native registry accepts it and never sends it.</summary>
    public const ushort RegistrySync = 0x0006;
    public const ushort UpdateWeight = 0x0007;
}

/// <summary>The status byte of a REGISTER_ACK.</summary>
internal static class AckStatus
{
    public const byte Done = 0x00;
    public const byte NotFound = 0x01;

    /// <summary>An invalid endpoint; by registries that admit not everybody, also a refusal by policy.</summary>
    public const byte Refused = 0x02;

    /// <summary>The registry cannot decide now: its policy's store is away, or it is overloaded. To be asked again.</summary>
    public const byte NotNow = 0x03;

    /// <summary>Also "not the owner".</summary>
    public const byte Malformed = 0xFF;
}
