using System.Buffers.Binary;
using System.Text;

namespace Net.Zlink.Protocol.Stream;

/// <summary>Says of a length over the limit what the peer has most likely done. Who forgets the length before a message announces the message's first four bytes: a text is a length of 500 MiB and more.</summary>
/// <param name="announced">The length.</param>
/// <param name="limit">The limit.</param>
/// <param name="isMessage">The transport has messages of its own, in which a client easily sends its messages as they are.</param>
internal readonly struct TooLongFrame(uint announced, long limit, bool isMessage)
{
    /// <summary>The same for all faults that need no line of their own in a log.</summary>
    public string Kind => IsText ? "text in the place of a length" : "a frame over MaxMessageSize";

    /// <summary>What happened, and what to do about it.</summary>
    public string Sentence => $"a frame of {announced} bytes was announced; MaxMessageSize is {limit}{Hint}";

    /// <summary>For the peer: at most 123 bytes, the room that a WebSocket's CLOSE has.</summary>
    public string CloseReason => $"frame of {announced} bytes, MaxMessageSize is {limit}{(IsText ? "; does the client send the length before each message?" : "")}";

    private string Hint
    {
        get
        {
            string? foreign = isMessage ? null : ProtocolSniffer.Of(Bytes);
            if (!IsText)
            {
                return foreign is null ? "" : $"; {foreign}";
            }

            string seen = $"; the four bytes are the text \"{Encoding.ASCII.GetString(Bytes)}\"";
            return isMessage ? $"{seen}: does the client send the length before each message?" : $"{seen}: {foreign ?? "it looks like text without a length before it"}";
        }
    }

    private bool IsText
    {
        get
        {
            for (int shift = 0; shift < 32; shift += 8)
            {
                if ((byte)(announced >> shift) is < (byte)' ' or > (byte)'~')
                {
                    return false;
                }
            }

            return true;
        }
    }

    private byte[] Bytes
    {
        get
        {
            byte[] bytes = new byte[sizeof(uint)];
            BinaryPrimitives.WriteUInt32BigEndian(bytes, announced);
            return bytes;
        }
    }
}
