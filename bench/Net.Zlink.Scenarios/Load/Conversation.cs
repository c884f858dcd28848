using System.Diagnostics;
using Net.Zlink.Scenarios.Wire;

namespace Net.Zlink.Scenarios.Load;

/// <summary>One connection's messages and replies: what may be sent, and whether each reply is the one that is due. Not
/// synchronised.</summary>
internal sealed class Conversation(LoadState state, uint id)
{
    private readonly int _limit = state.Settings.InFlight;
    private readonly int _sampleRate = state.Settings.LatencySampleRate;
    private long _next;
    private long _expected;
    private int _inFlight;
    private bool _isProbeDue;

    // Those that a later reply has overtaken. Nobody has any, as long as the server is right.
    private HashSet<long>? _overtaken;

    /// <summary>Messages without a reply.</summary>
    public int InFlight => Volatile.Read(ref _inFlight);

    /// <summary>Whether a message may be sent now.</summary>
    public bool MaySend => state.IsSending ? _inFlight < _limit : _isProbeDue;

    /// <summary>Messages sent.</summary>
    public long Sent => Volatile.Read(ref _next);

    /// <summary>The next message may be sent although the load sends nothing: that one, to see whether it is answered.</summary>
    public void AllowProbe() => _isProbeDue = true;

    /// <summary>Makes the next messages, as many as may be on their way.</summary>
    /// <returns>Their bytes, at the start of <paramref name="batch"/>; 0 if nothing may be sent now.</returns>
    public int Compose(byte[] batch)
    {
        MessageTemplate template = state.Template;
        int count = state.IsSending ? Math.Min(_limit - _inFlight, state.Settings.SendBatch) : _isProbeDue ? 1 : 0;
        if (count <= 0)
        {
            return 0;
        }

        _isProbeDue = false;

        long now = Stopwatch.GetTimestamp();
        for (int i = 0; i < count; i++)
        {
            template.Stamp(batch.AsSpan(i * template.FrameLength), now, id, _next + i);
        }

        Volatile.Write(ref _next, _next + count);
        Volatile.Write(ref _inFlight, _inFlight + count);

        // By the numbers themselves, not by the counter that they were sent by. The probe of a load that sends nothing is one.
        if (_next - _expected + (_overtaken?.Count ?? 0) > Math.Max(_limit, 1))
        {
            state.CountOverrun();
        }

        return count * template.FrameLength;
    }

    /// <summary>Looks at all whole frames.</summary>
    /// <returns>The bytes that are done with; -1 if this is not a stream of our frames any more.</returns>
    public int OnBytes(ReadOnlySpan<byte> bytes, LoadWorker worker)
    {
        int frame = state.Template.FrameLength;
        int end = 0;
        int answered = 0;
        int right = 0;
        long measureFrom = state.MeasureFrom;
        long measureUntil = state.MeasureUntil;
        long now = measureFrom == long.MaxValue ? 0 : Stopwatch.GetTimestamp();
        while (bytes.Length - end >= Frames.HeaderSize)
        {
            if (Frames.FrameLength(bytes[end..]) != frame)
            {
                // Nothing behind a wrong length can be understood.
                state.CountCorrupt();
                Answered(answered, right, worker);
                return -1;
            }

            if (bytes.Length - end < frame)
            {
                break;
            }

            ReadOnlySpan<byte> payload = bytes.Slice(end + Frames.HeaderSize, frame - Frames.HeaderSize);
            end += frame;
            (long timestamp, uint connection, long sequence) = MessageTemplate.Read(payload);
            if (connection != id || !Accept(sequence))
            {
                if (connection != id)
                {
                    state.CountUnrequested();
                }

                continue;
            }

            // A changed reply is one all the same, so that the next message is sent; it is none that counts.
            answered++;
            bool isSample = sequence % _sampleRate == 0;
            if (!MessageTemplate.EndsRight(payload, sequence) || (isSample && !state.Template.IsFilledRight(payload)))
            {
                state.CountCorrupt();
                continue;
            }

            right++;
            if (isSample && timestamp >= measureFrom && timestamp < measureUntil)
            {
                worker.RecordLatency(now - timestamp);
            }
        }

        Answered(answered, right, worker);
        return end;
    }

    /// <summary>The last thing about a read: who sees that nothing is in flight any more sees all that was counted, too.</summary>
    private void Answered(int answered, int right, LoadWorker worker)
    {
        worker.CountReplies(right);
        Volatile.Write(ref _inFlight, _inFlight - answered);
    }

    /// <summary>Whether this is a reply to something that has none yet.</summary>
    private bool Accept(long sequence)
    {
        if (sequence == _expected && sequence < _next)
        {
            _expected++;
        }
        else if (sequence < 0 || sequence >= _next)
        {
            state.CountUnrequested();
            return false;
        }
        else if (sequence > _expected)
        {
            _overtaken ??= [];
            for (; _expected < sequence; _expected++)
            {
                _overtaken.Add(_expected);
            }

            _expected++;
        }
        else if (_overtaken?.Remove(sequence) == true)
        {
            state.CountOutOfOrder();
        }
        else
        {
            state.CountDuplicate();
            return false;
        }

        return true;
    }
}
