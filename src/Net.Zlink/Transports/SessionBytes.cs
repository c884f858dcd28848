using System.Buffers.Binary;

namespace Net.Zlink.Transports;

/// <summary>Counts what a TLS session has read from its socket, and how much of it was no data.</summary>
/// <remarks>
/// The library keeps answers to key updates until this side writes, which may be never: 2.5 million of them, of 26 bytes each, took 60 MB
/// in 50 s (docs/limits.md). So bytes without data are counted: all within one read, and over TLS 1.3 also exactly from one write of this
/// side to the next, by its records, each of which has 22 bytes beside its content.
/// </remarks>
internal struct SessionBytes
{
    // The limit within one read, and without a write. Tickets have some KB, and a key update carries 5 bytes.
    private const int MaxRecordsWithoutData = 1024 * 1024;

    private const int HeaderSize = 5;

    // A TLS 1.3 record's type and its 16 authentication bytes, after the header.
    private const int Seal = 17;

    // A key update carries 5 bytes and costs 12 us, where data costs 1 us. After this many, less one for each 512 bytes of data, the
    // session is read in small steps,
    private const int SmallRecord = 5;
    private const int ManySmallRecords = 64;
    private const int MaxSmallRecords = 1024;
    private const int DataOfSmallRecord = 512;

    // of 75 key updates each: bytes read at once are decrypted at once, and 32 KB of them took 14 ms of a shard.
    private const int LittleRead = 2 * 1024;

    // How much longer than data they take.
    private const int SmallRecordCost = 16;

    private long _withoutData;
    private int _smallRecords;
    private long _unanswered;
    private int _header; // The header bytes read so far,
    private ushort _length; // the last two of them,
    private int _toSkip; // and the bytes of the record that are still to come.
    private bool _isTls13;

    /// <summary>Bytes that this session read has taken without data.</summary>
    public readonly bool HasBytesWithoutData => _withoutData > 0;

    /// <summary>The peer sends too much without data.</summary>
    public readonly bool IsTooMuch => _withoutData > MaxRecordsWithoutData || (_isTls13 && _unanswered > MaxRecordsWithoutData);

    private readonly bool IsOfSmallRecords => _smallRecords >= ManySmallRecords;

    /// <summary>How much to read from the socket at once.</summary>
    public readonly int MaxBytesPerRead(int capacity) => IsOfSmallRecords ? Math.Min(capacity, LittleRead) : capacity;

    /// <summary>How much of a read's quota these bytes cost.</summary>
    public readonly int CostOf(int read) => IsOfSmallRecords ? read * SmallRecordCost : read;

    public void BeginSession(bool isTls13)
    {
        _isTls13 = isTls13;
        Volatile.Write(ref _unanswered, 0);
    }

    /// <summary>A session read begins.</summary>
    public void BeginRead() => _withoutData = 0;

    /// <summary>Bytes from the socket, also during the handshake.</summary>
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

    public void AddData(int data)
    {
        _smallRecords = Math.Max(0, _smallRecords - (data / DataOfSmallRecord));
        Volatile.Write(ref _unanswered, Math.Max(0, _unanswered - data));
    }

    /// <summary>This side has written, with all answers.</summary>
    public void Write() => Volatile.Write(ref _unanswered, 0);

    private void BeginRecord(ushort length)
    {
        _header = 0;
        _toSkip = length;
        _smallRecords += _isTls13 && length - Seal <= SmallRecord && _smallRecords < MaxSmallRecords ? 1 : 0;
        Volatile.Write(ref _unanswered, _unanswered + Math.Max(0, length - Seal));
    }
}
