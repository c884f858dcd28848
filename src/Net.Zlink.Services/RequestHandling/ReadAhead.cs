namespace Net.Zlink.Services;

/// <summary>The requests that were read and wait for a handler, limited by their number and by their bytes, within the context's
/// QueuedByteLimit. Guarded by the lock of its owner.</summary>
/// <param name="maxCount">Most requests.</param>
/// <param name="maxBytes">Most bytes; one request may exceed it.</param>
/// <param name="reservation">Of the context.</param>
internal sealed class ReadAhead(int maxCount, long maxBytes, QueueReservation reservation)
{
    private readonly Queue<ServiceRequest> _requests = new();
    private long _largest = Math.Max(1, maxBytes / 8); // Until something is known, few at a time.
    private long _bytes;
    private bool _isOverContext; // Until it is empty: then one batch is read, whatever the context has left.

    /// <summary>So many more may be read: as many as fit if each is as large as the largest of the last ones.</summary>
    public int Places => _isOverContext || _requests.Count >= maxCount || _bytes >= maxBytes ? 0
        : (int)Math.Clamp((maxBytes - _bytes) / _largest, 1, maxCount - _requests.Count);

    public bool IsMoreThanHalfFull => _isOverContext || _requests.Count > maxCount / 2 || _bytes > maxBytes / 2;

    public void Enqueue(in ServiceRequest request)
    {
        long bytes = request.Message.ByteCount;
        _largest = Math.Max(bytes, _largest - (_largest / 64)); // A large one is forgotten behind some hundred small ones.
        _bytes += bytes;
        _isOverContext |= !reservation.TryCover(_bytes);
        _requests.Enqueue(request);
    }

    public bool TryDequeue(out ServiceRequest request)
    {
        if (!_requests.TryDequeue(out request))
        {
            return false;
        }

        _bytes -= request.Message.ByteCount;
        _isOverContext &= _requests.Count > 0;
        reservation.Shrink(_bytes);
        return true;
    }

    public ServiceRequest[] RemoveAll()
    {
        ServiceRequest[] all = [.. _requests];
        _requests.Clear();
        _bytes = 0;
        reservation.Shrink(0);
        return all;
    }
}
