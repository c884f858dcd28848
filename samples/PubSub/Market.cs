using System.Diagnostics;
using Net.Zlink;

namespace Samples.PubSub;

/// <summary>Prices under two topics. One subscriber takes "eur", one takes "usd", and a slow one takes both but does not read until the
/// end.</summary>
internal sealed class Market(int messages, int mark, string endpoint)
{
    // 1 KB: a slow subscriber's share of the kernel's buffers is then a few thousand messages, so that its loss shows within the demo.
    private const int PayloadSize = 1024;

    // The publisher waits for the fast ones now and then, since it is their loss that must not happen, whatever the machine is doing.
    private const int Pace = 50;

    // Lines of the live display.
    private const int Lines = 8;

    // Nothing new for so long: then nothing is under way any more, even on a machine that is very busy.
    private static readonly TimeSpan Silence = TimeSpan.FromSeconds(5);

    private long _eur;
    private long _usd;

    /// <summary>Runs the demo; returns what went wrong, or null.</summary>
    public async Task<string?> RunAsync(TextWriter output, CancellationToken cancellation)
    {
        await using var context = new ZlinkContext();
        using PubSocket publisher = context.CreatePub(
            new PubOptions { SendHighWaterMark = mark, SendBufferSize = 64 * 1024, Linger = TimeSpan.FromSeconds(5) });
        string where = publisher.Bind(endpoint);

        // All three are there before the first price, so what each must get is known.
        using SubSocket eur = Subscribe(context, where, mark, "eur");
        using SubSocket usd = Subscribe(context, where, mark, "usd");
        using SubSocket slow = Subscribe(context, where, mark, "eur", "usd");
        while (publisher.PeerCount < 3 || publisher.TopicCount < 2
            || !await AllHearAsync(publisher, [eur, usd, slow], cancellation).ConfigureAwait(false))
        {
            await Task.Delay(TimeSpan.FromMilliseconds(1), cancellation).ConfigureAwait(false);
        }

        SocketStatistics before = publisher.GetStatistics();
        using var silent = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        Task reading = Task.WhenAll(
            CountAsync(eur, messages / 2, () => Interlocked.Increment(ref _eur), silent.Token),
            CountAsync(usd, messages / 2, () => Interlocked.Increment(ref _usd), silent.Token));
        try
        {
            if (!await PublishAsync(publisher, output, cancellation).ConfigureAwait(false))
            {
                await silent.CancelAsync().ConfigureAwait(false);
            }

            await reading.ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            long atMark = publisher.GetStatistics().DroppedAtHighWaterMark - before.DroppedAtHighWaterMark;
            output.WriteLine(FormattableString.Invariant(
                $"eur {_eur:N0}, usd {_usd:N0} of {messages / 2:N0} each; {atMark:N0} dropped at the mark of {mark:N0}"));
            if (cancellation.IsCancellationRequested)
            {
                throw;
            }

            return "a subscriber that kept up missed prices";
        }

        long dropped = publisher.GetStatistics().DroppedAtHighWaterMark - before.DroppedAtHighWaterMark;
        int total = messages / 2 * 2;
        long late = await DrainAsync(slow, total - dropped, cancellation).ConfigureAwait(false);
        output.Write(FormattableString.Invariant($"eur {_eur:N0}, usd {_usd:N0} of {total / 2:N0} each; "));
        output.WriteLine(FormattableString.Invariant(
            $"the slow one {late:N0} of {total:N0}: {dropped:N0} dropped at its mark of {mark:N0}"));
        return dropped == 0 ? "the slow subscriber missed nothing: give it more --messages, or a lower --mark"
            : late + dropped != total ? "what the slow subscriber got and what was counted as dropped are not all there is"
            : null;
    }

    private static SubSocket Subscribe(ZlinkContext context, string where, int mark, params string[] topics)
    {
        SubSocket socket = context.CreateSub(new SubOptions { ReceiveHighWaterMark = mark, ReceiveBufferSize = 64 * 1024 });
        foreach (string topic in topics)
        {
            socket.Subscribe(topic);
        }

        socket.Connect(where);
        return socket;
    }

    /// <summary>Subscribing takes a moment to reach the publisher: a test price under each topic tells whether it has.</summary>
    private static async Task<bool> AllHearAsync(PubSocket publisher, SubSocket[] subscribers, CancellationToken cancellation)
    {
        await publisher.SendAsync("eur?"u8.ToArray(), cancellation).ConfigureAwait(false);
        await publisher.SendAsync("usd?"u8.ToArray(), cancellation).ConfigureAwait(false);
        bool[] heard = new bool[subscribers.Length];
        while (true)
        {
            await Task.Delay(TimeSpan.FromMilliseconds(1), cancellation).ConfigureAwait(false);
            for (int i = 0; i < subscribers.Length; i++)
            {
                while (subscribers[i].TryReceive(out Message message))
                {
                    message.Dispose();
                    heard[i] = true;
                }
            }

            // What some heard and others did not must not be counted later: wait until nothing is under way any more, nor come in and
            // unread.
            SocketStatistics sent = publisher.GetStatistics();
            SocketStatistics[] counters = [.. subscribers.Select(static s => s.GetStatistics())];
            if (sent.QueuedMessages == 0 && counters.Sum(static b => b.ReceivedMessages) == sent.WrittenMessages
                && counters.All(static b => b.UnreadMessages == 0))
            {
                return Array.TrueForAll(heard, static one => one);
            }
        }
    }

    private static async Task CountAsync(SubSocket subscriber, int count, Action heard, CancellationToken cancellation)
    {
        for (int i = 0; i < count; i++)
        {
            using Message message = await subscriber.ReceiveAsync(cancellation).ConfigureAwait(false);
            heard();
        }
    }

    private static async Task<long> DrainAsync(SubSocket subscriber, long count, CancellationToken cancellation)
    {
        long got = 0;
        for (; got < count; got++)
        {
            using Message message = await subscriber.ReceiveAsync(cancellation).ConfigureAwait(false);
        }

        // One more would be one too many.
        return subscriber.TryReceive(out Message extra) ? got + Count(extra) : got;

        static int Count(Message extra)
        {
            extra.Dispose();
            return 1;
        }
    }

    /// <summary>Publishes everything, and waits until the fast ones have it. False: they missed some.</summary>
    private async Task<bool> PublishAsync(PubSocket publisher, TextWriter output, CancellationToken cancellation)
    {
        // More than the mark of one topic are never under way: none of its subscriber's prices can be one too many.
        int underWay = Math.Min(Pace, mark);
        byte[] price = new byte[PayloadSize];
        for (int i = 0; i < messages / 2; i++)
        {
            "eur"u8.CopyTo(price);
            await publisher.SendAsync(price, cancellation).ConfigureAwait(false);
            "usd"u8.CopyTo(price);
            await publisher.SendAsync(price, cancellation).ConfigureAwait(false);
            if (!await AreHeardAsync(i + 2 - underWay, cancellation).ConfigureAwait(false))
            {
                return false;
            }

            // What was heard a moment ago may still be counted as waiting here, and with a mark of 1 that is all the room there is.
            while (publisher.GetPeers().Count(peer => peer.Outbound.Messages >= mark) > 1)
            {
                await Task.Delay(TimeSpan.FromMilliseconds(1), cancellation).ConfigureAwait(false);
            }

            if (i % Math.Max(1, messages / 2 / Lines) == 0)
            {
                // The one whose queue is long is the slow one: that is how a publisher finds out.
                long longest = publisher.GetPeers().Max(static p => p.Outbound.Messages);
                long dropped = publisher.GetStatistics().DroppedAtHighWaterMark;
                output.WriteLine(FormattableString.Invariant(
                    $"published {2 * (i + 1),9:N0}   longest queue {longest,6:N0}   dropped {dropped,9:N0}"));
            }
        }

        return await AreHeardAsync(messages / 2, cancellation).ConfigureAwait(false);
    }

    /// <summary>Waits until each of the fast ones has heard so many prices. False: no more come.</summary>
    private async Task<bool> AreHeardAsync(int count, CancellationToken cancellation)
    {
        (long Eur, long Usd) heard = (-1, -1);
        long since = 0;
        while (true)
        {
            (long Eur, long Usd) now = (Interlocked.Read(ref _eur), Interlocked.Read(ref _usd));
            if (Math.Min(now.Eur, now.Usd) >= count)
            {
                return true;
            }

            if (now != heard)
            {
                (heard, since) = (now, Stopwatch.GetTimestamp());
            }
            else if (Stopwatch.GetElapsedTime(since) >= Silence)
            {
                return false;
            }

            await Task.Delay(TimeSpan.FromMilliseconds(1), cancellation).ConfigureAwait(false);
        }
    }
}
