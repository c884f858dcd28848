using System.Buffers.Binary;

namespace Net.Zlink.Conformance.Tests.Sides.Zmp;

/// <summary>
/// Reads what one played peer has sent on a connection, by the book (docs/protocol.md, sections 7 to 9) and without any code of the
/// library: which frames are whole, whether the handshake is complete,
/// and where the peer breaks the protocol.
/// </summary>
internal sealed class PeerReading(byte ownType, long limit)
{
    private const int HeaderSize = 8;
    private const int SmallestHello = 3;
    private const int LargestHello = 258;
    private const byte Control = 2;
    private static readonly byte[] LegalFlags = [0x00, 0x01, 0x02, 0x04, 0x05, 0x08, 0x10];

    /// <summary>Who may talk to whom, by the numbers of the types.</summary>
    private static readonly Dictionary<byte, byte[]> Partners = new()
    {
        [0] = [0],
        [1] = [2, 10],
        [2] = [1, 9],
        [5] = [5, 6],
        [6] = [5, 6],
        [9] = [2, 10],
        [10] = [1, 9],
    };

    private readonly List<byte> _tail = [];
    private bool _hasHello;

    /// <summary>The routing id of its HELLO, once that was accepted.</summary>
    public byte[] RoutingId { get; private set; } = [];

    /// <summary>Its READY was accepted.</summary>
    public bool IsReady { get; private set; }

    /// <summary>It broke the protocol, or sent an ERROR: nothing more is read.</summary>
    public bool IsBroken { get; private set; }

    /// <summary>What it broke is the header of its HELLO.</summary>
    public bool IsBrokenInHelloHeader { get; private set; }

    /// <summary>Takes further bytes; returns the frames that became whole behind the handshake, without control and identity
    /// frames.</summary>
    public IReadOnlyList<PeerFrame> Take(byte[] bytes)
    {
        _tail.AddRange(bytes);
        var whole = new List<PeerFrame>();
        while (!IsBroken && _tail.Count >= HeaderSize)
        {
            byte[] header = [.. _tail[..HeaderSize]];
            uint length = BinaryPrimitives.ReadUInt32BigEndian(header.AsSpan(4));
            bool isHello = !_hasHello;
            IsBroken = isHello ? length is < SmallestHello or > LargestHello : !IsGood(header) || (limit >= 0 && length > limit);
            if (IsBroken || _tail.Count - HeaderSize < length)
            {
                break;
            }

            byte[] body = [.. _tail[HeaderSize..(HeaderSize + (int)length)]];
            _tail.RemoveRange(0, HeaderSize + (int)length);
            if (isHello)
            {
                TakeHello(header, body);
            }
            else if (header[2] == Control)
            {
                IsBroken = !TakeControl(body);
            }
            else if (!IsReady)
            {
                IsBroken = true; // Data before READY.
            }
            else if ((header[2] & 0x04) == 0)
            {
                whole.Add(new PeerFrame(header[2], body));
            }
        }

        return whole;
    }

    private static bool IsGood(byte[] header) => header[0] == 0x5a && header[1] == 1 && header[3] == 0 && LegalFlags.Contains(header[2]);

    private void TakeHello(byte[] header, byte[] body)
    {
        IsBrokenInHelloHeader = !IsGood(header) || header[2] != Control;
        IsBroken = IsBrokenInHelloHeader || body[0] != 1 || !Partners[ownType].Contains(body[1]) || body.Length != SmallestHello + body[2];
        _hasHello = !IsBroken;
        RoutingId = _hasHello ? body[3..] : [];
    }

    private bool TakeControl(byte[] body)
    {
        switch (body)
        {
            case [2, ..]:
                return body.Length == 1 || (body.Length >= 4 && body[3] <= 16 && body.Length == 4 + body[3]);
            case [3, ..]:
                return body.Length >= 2 && body.Length == 2 + body[1];
            case [4, ..] when !IsReady && EndsOnABoundary(body):
                IsReady = true;
                return true;
            default:
                return false; // An ERROR too: it ends the connection.
        }
    }

    private static bool EndsOnABoundary(byte[] ready)
    {
        int position = 1;
        while (position < ready.Length)
        {
            int value = position + 1 + ready[position];
            if (value + sizeof(uint) > ready.Length)
            {
                return false;
            }

            uint length = BinaryPrimitives.ReadUInt32BigEndian(ready.AsSpan(value));
            if (length > ready.Length - value - sizeof(uint))
            {
                return false;
            }

            position = value + sizeof(uint) + (int)length;
        }

        return true;
    }
}

/// <summary>A frame of a message, or of a subscription.</summary>
internal sealed record PeerFrame(byte Flags, byte[] Body)
{
    public bool HasMore => (Flags & 0x01) != 0;

    /// <summary>True: subscribes; false: cancels; null: neither, or not in a form of its own.</summary>
    public bool? Subscribes => Flags switch
    {
        0x08 => true,
        0x10 => false,
        _ => Body is [0 or 1, ..] ? Body[0] == 1 : null,
    };

    public byte[] Topic => Flags is 0x08 or 0x10 ? Body : Body[1..];

    /// <summary>What a publisher's application is told of it.</summary>
    public byte[] Notice => Flags is 0x08 or 0x10 ? [(byte)(Flags == 0x08 ? 1 : 0), .. Body] : Body;
}
