namespace Net.Zlink.Transports;

/// <summary>
/// The library keeps answers to key updates until this side writes, which may be never: 2.5 million of them, of 26 bytes each, took 60 MB
/// in 50 s (docs/limits.md). So bytes without data are counted: all within one read, and over TLS 1.3 also exactly from one write of this
/// side to the next, by its records, each of which has 22 bytes beside its content.
/// </summary>
internal struct SessionBytes
{
    // Tickets have some KB, and a key update carries 5 bytes.
    private const int MaxRecordsWithoutData = 1024 * 1024;

    private const int HeaderSize = 5;

    private const int Seal = 17;

    // A key update carries 5 bytes and costs 12 us, where data costs 1 us. After this many, less one for each 512 bytes of data, the
    // session is read in small steps,
    private const int SmallRecord = 5;
    private const int ManySmallRecords = 64;
    private const int MaxSmallRecords = 1024;
    private const int DataOfSmallRecord = 512;

    // of 75 key updates each: bytes read at once are decrypted at once, and 32 KB of them took 14 ms of a shard.
    private const int LittleRead = 2 * 1024;

    private const int SmallRecordCost = 16;

    private long _withoutData;
    private int _smallRecords;
    private long _unanswered;
    private int _header;
    private ushort _length;
    private int _toSkip;
    private bool _isTls13;

    public readonly bool HasBytesWithoutData => _withoutData > 0;

    public readonly bool IsTooMuch => _withoutData > MaxRecordsWithoutData || (_isTls13 && _unanswered > MaxRecordsWithoutData);

    private readonly bool IsOfSmallRecords => _smallRecords >= ManySmallRecords;

    public readonly int MaxBytesPerRead(int capacity) => IsOfSmallRecords ? Math.Min(capacity, LittleRead) : capacity;

    public readonly int CostOf(int read) => IsOfSmallRecords ? read * SmallRecordCost : read;

    public void BeginSession(bool isTls13)
    {
        _isTls13 = isTls13;
        Volatile.Write(ref _unanswered, 0);
    }

    public void BeginRead() => _withoutData = 0;

    public void AddRecordBytes(ReadOnlySpan<byte> bytes)
    {
        _withoutData += bytes.Length;
        while (!bytes.IsEmpty)
        {
            int skipped = Math.Min(_toSkip, bytes.Length);
            _toSkip -= skipped;
            bytes = bytes[skipped..];
            if (!bytes.IsEmpty)
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

    public void Write() => Volatile.Write(ref _unanswered, 0);

    private void BeginRecord(ushort length)
    {
        _header = 0;
        _toSkip = length;
        _smallRecords += _isTls13 && length - Seal <= SmallRecord && _smallRecords < MaxSmallRecords ? 1 : 0;
        Volatile.Write(ref _unanswered, _unanswered + Math.Max(0, length - Seal));
    }
}
