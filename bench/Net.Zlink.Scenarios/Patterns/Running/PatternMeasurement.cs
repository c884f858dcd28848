using System.Diagnostics;
using Net.Zlink.Scenarios.Measure;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>One measurement of one pattern: what the native library's own programs do, in their order.</summary>
internal sealed class PatternMeasurement<TEnds>(TEnds ends, int size, bool batch, StallWatch watch)
    where TEnds : struct, IPatternEnds
{
    // The loops run in pieces: a method that is called again and again is recompiled with what the runtime has learned, one that loops for
    // ever is not.
    private const int Piece = 1_000;

    private const double MicrosecondsPerSecond = 1_000_000;

    private readonly OwnLines<byte> _sent = Payload(size);
    private readonly OwnLines<byte> _received = new(size);
    private readonly OwnLines<byte> _answer = new(size);

    /// <summary>There and at once received, one at a time.</summary>
    public void WarmUp(int messages)
    {
        for (int i = Whole(messages); i > 0; i--)
        {
            ends.Send(_sent.Span);
            ends.Receive(_received.Span);
        }
    }

    /// <summary>Messages per second, from before the first send until the last was received.</summary>
    public double Throughput(int messages)
    {
        int all = Whole(messages);
        Exception? fault = null;
        var receiver = new Thread(() =>
        {
            try
            {
                InPieces(all, ReceiveSome);
            }
            catch (Exception e)
            {
                fault = e;
            }
        });
        receiver.Start();
        long start = Stopwatch.GetTimestamp();
        InPieces(all, SendSome);
        receiver.Join();
        double seconds = Stopwatch.GetElapsedTime(start).TotalSeconds;
        return fault is null ? all / seconds : throw new InvalidOperationException("The receiving thread failed.", fault);
    }

    /// <summary>Microseconds one way: the mean of strict exchanges, half of it where they go there and back.</summary>
    public double Latency(int roundTrips)
    {
        long start = Stopwatch.GetTimestamp();
        InPieces(roundTrips, RoundTrips);
        return Stopwatch.GetElapsedTime(start).TotalSeconds * MicrosecondsPerSecond / roundTrips / ends.Ways;
    }

    /// <summary>The last message arrived as it was sent. Not measured.</summary>
    public void Check()
    {
        if (!_received.Span.SequenceEqual(_sent.Span))
        {
            throw new InvalidOperationException("A message arrived with other bytes than it was sent with.");
        }
    }

    private static OwnLines<byte> Payload(int size)
    {
        var payload = new OwnLines<byte>(size);
        payload.Span.Fill((byte)'a');
        return payload;
    }

    /// <summary>So many that each receiver gets the same number.</summary>
    private int Whole(int messages) => (messages + ends.Multiple - 1) / ends.Multiple * ends.Multiple;

    private void InPieces(int count, Action<int> step)
    {
        for (int left = count; left > 0; left -= Piece)
        {
            step(Math.Min(left, Piece));
            watch.Progressed();
        }
    }

    private void SendSome(int messages)
    {
        for (int i = 0; i < messages; i++)
        {
            ends.Send(_sent.Span);
        }
    }

    private void ReceiveSome(int messages)
    {
        if (batch)
        {
            for (int left = messages; left > 0;)
            {
                left -= ends.ReceiveMany(_received.Span, left);
            }

            return;
        }

        for (int i = 0; i < messages; i++)
        {
            ends.Receive(_received.Span);
        }
    }

    private void RoundTrips(int count)
    {
        for (int i = 0; i < count; i++)
        {
            ends.Send(_sent.Span);
            ends.Receive(_received.Span);
            if (ends.Ways > 1)
            {
                ends.SendBack(_received.Span);
                ends.ReceiveBack(_answer.Span);
            }
        }
    }
}
