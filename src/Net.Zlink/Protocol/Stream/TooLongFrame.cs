using System.Buffers.Binary;
using System.Text;

namespace Net.Zlink.Protocol.Stream;

/// <summary>A sender that omits the length announces the message's first four bytes: as text, 500 MiB and more.</summary>
internal readonly struct TooLongFrame(uint announced, long limit, bool isMessage)
{
    public string Kind => IsText ? "text instead of a length" : "a frame over MaxMessageSize";

    public string Sentence => $"a frame of {announced} bytes was announced; MaxMessageSize is {limit}{Hint}";

    /// <summary>For the peer: at most 123 bytes, the limit of a WebSocket CLOSE.</summary>
    public string CloseReason =>
        $"frame of {announced} bytes, MaxMessageSize is {limit}{(IsText ? "; does the client send the length before each message?" : "")}";

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
            return isMessage
                ? $"{seen}: does the client send the length before each message?"
                : $"{seen}: {foreign ?? "it looks like text without a length before it"}";
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
