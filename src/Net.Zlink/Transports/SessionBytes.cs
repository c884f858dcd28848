using System.Buffers.Binary;

namespace Net.Zlink.Transports;

/// <summary>What a TLS session has read from its socket, and how much of it was no data.</summary>
/// <remarks>
/// The library keeps its answers to updates of keys until this side writes something, which may be never: 2.5 million of them, of 26 bytes each, took 60 MB in 50 s (docs/architecture.md, "Limits"). So what is not data is counted: within
/// one read all bytes, and over TLS 1.3, which alone has such updates, besides from one write of this side to the next, exactly: the records are counted for it, each of which has 22 bytes more than it carries.
/// </remarks>
internal struct SessionBytes
{
    // What a session may go through within one read, and without a write: its tickets are some KB, and an update of keys carries 5 bytes.
    private const int MostWithoutData = 1024 * 1024;

    private const int HeaderSize = 5;

    // What a record of TLS 1.3 has behind its header beside what it carries: its type, and the 16 bytes that seal it.
    private const int Seal = 17;

    private long _withoutData;
    private long _unanswered;
    private int _header; // As many bytes of a record's header as were read,
    private ushort _length; // the last two of them,
    private int _toSkip; // and how much of the record is still to come.
    private bool _isTls13;

    /// <summary>Bytes that this read of the session has taken without data.</summary>
    public readonly bool HasTaken => _withoutData > 0;

    /// <summary>The peer goes on and on with what is no data.</summary>
    public readonly bool IsTooMuch => _withoutData > MostWithoutData || (_isTls13 && _unanswered > MostWithoutData);

    /// <summary>The handshake is over.</summary>
    public void BeginSession(bool isTls13)
    {
        _isTls13 = isTls13;
        Volatile.Write(ref _unanswered, 0);
    }

    /// <summary>A read of the session begins.</summary>
    public void BeginRead() => _withoutData = 0;

    /// <summary>Read from the socket, be it in the handshake.</summary>
    public void Take(ReadOnlySpan<byte> bytes)
    {
        _withoutData += bytes.Length;
        while (!bytes.IsEmpty)
        {
            int skipped = Math.Min(_toSkip, bytes.Length);
            _toSkip -= skipped;
            bytes = bytes[skipped..];
            if (_header == 0 && bytes.Length >= HeaderSize)
            {
                BeginRecord(BinaryPrimitives.ReadUInt16BigEndian(bytes[(HeaderSize - sizeof(ushort))..]));
                bytes = bytes[HeaderSize..];
            }
            else if (!bytes.IsEmpty)
            {
                _length = (ushort)((_length << 8) | bytes[0]);
                bytes = bytes[1..];
                if (++_header == HeaderSize)
                {
                    BeginRecord(_length);
                }
            }
        }
    }

    /// <summary>The session had so much data in what was read.</summary>
    public void Bring(int data) => Volatile.Write(ref _unanswered, Math.Max(0, _unanswered - data));

    /// <summary>This side has written, and with it all answers.</summary>
    public void Write() => Volatile.Write(ref _unanswered, 0);

    private void BeginRecord(ushort length)
    {
        _header = 0;
        _toSkip = length;
        Volatile.Write(ref _unanswered, _unanswered + Math.Max(0, length - Seal));
    }
}
