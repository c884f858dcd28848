using System.Buffers.Binary;

namespace Net.Zlink.Transports;

/// <summary>What a TLS session has read from its socket, and how much of it was no data.</summary>
/// <remarks>
/// The library keeps its answers to updates of keys until this side writes something, which may be never: 2.5 million of them, of 26 bytes
/// each, took 60 MB in 50 s (docs/limits.md). So what is not data is counted: within one read all bytes, and over TLS 1.3, which alone has
/// such updates, besides from one write of this side to the next, exactly: the records are counted for it, each of which has 22 bytes more
/// than it carries.
/// </remarks>
internal struct SessionBytes
{
    // What a session may go through within one read, and without a write: its tickets are some KB, and an update of keys carries 5 bytes.
    private const int MaxRecordsWithoutData = 1024 * 1024;

    private const int HeaderSize = 5;

    // What a record of TLS 1.3 has behind its header beside what it carries: its type, and the 16 bytes that seal it.
    private const int Seal = 17;

    // An update of keys carries 5 bytes and costs 12 us, where data costs 1 us. So many of these, less one for each half a KiB of data, and
    // the session is read a little at a time,
    private const int SmallRecord = 5;
    private const int ManySmallRecords = 64;
    private const int MaxSmallRecords = 1024;
    private const int DataOfSmallRecord = 512;

    // which is 75 of them: what was read at once is decrypted at once, and 32 KB of them took 14 ms of a shard.
    private const int LittleRead = 2 * 1024;

    // As much longer than data they take.
    private const int SmallRecordCost = 16;

    private long _withoutData;
    private int _smallRecords;
    private long _unanswered;
    private int _header; // As many bytes of a record's header as were read,
    private ushort _length; // the last two of them,
    private int _toSkip; // and how much of the record is still to come.
    private bool _isTls13;

    /// <summary>Bytes that this read of the session has taken without data.</summary>
    public readonly bool HasBytesWithoutData => _withoutData > 0;

    /// <summary>The peer goes on and on with what is no data.</summary>
    public readonly bool IsTooMuch => _withoutData > MaxRecordsWithoutData || (_isTls13 && _unanswered > MaxRecordsWithoutData);

    private readonly bool IsOfSmallRecords => _smallRecords >= ManySmallRecords;

    /// <summary>How much is to be read from the socket at a time, of as much as there is room for.</summary>
    public readonly int MaxBytesPerRead(int capacity) => IsOfSmallRecords ? Math.Min(capacity, LittleRead) : capacity;

    /// <summary>What so many bytes take of a read's turn.</summary>
    public readonly int CostOf(int read) => IsOfSmallRecords ? read * SmallRecordCost : read;

    /// <summary>The handshake is over.</summary>
    public void BeginSession(bool isTls13)
    {
        _isTls13 = isTls13;
        Volatile.Write(ref _unanswered, 0);
    }

    /// <summary>A read of the session begins.</summary>
    public void BeginRead() => _withoutData = 0;

    /// <summary>Read from the socket, be it in the handshake.</summary>
    public void AddRecordBytes(ReadOnlySpan<byte> bytes)
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
    public void AddData(int data)
    {
        _smallRecords = Math.Max(0, _smallRecords - (data / DataOfSmallRecord));
        Volatile.Write(ref _unanswered, Math.Max(0, _unanswered - data));
    }

    /// <summary>This side has written, and with it all answers.</summary>
    public void Write() => Volatile.Write(ref _unanswered, 0);

    private void BeginRecord(ushort length)
    {
        _header = 0;
        _toSkip = length;
        _smallRecords += _isTls13 && length - Seal <= SmallRecord && _smallRecords < MaxSmallRecords ? 1 : 0;
        Volatile.Write(ref _unanswered, _unanswered + Math.Max(0, length - Seal));
    }
}
