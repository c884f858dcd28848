using Net.Zlink.Engine;
using Net.Zlink.Sockets.Pipes;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>Subscribers that have left a publisher and whose topics are still in its table; and the lock of those who change the table.</summary>
/// <remarks>
/// 100,000 topics held the socket's lock, which each message wants, for 26 to 110 ms. So who changes the table holds another one besides: the table can then be read without the socket's lock, to tell of topics in their order, and that lock is taken
/// for a few topics at a time. To a subscriber that has left no message goes from the first moment on. Who else wants to change the table waits until it is out, so that notices stand in the order in which things happened, and who is the first of a
/// topic, or was the last, is known exactly.
/// Order of locks: this one, then the socket's.
/// </remarks>
internal sealed class Departures(PublisherCore core)
{
    private readonly Queue<Departure> _line = [];
    private ShortLock _changes;

    /// <summary>Takes note of a subscriber: under the socket's lock. <see cref="Finish"/> has to follow, outside of it.</summary>
    public void Add(Departure departure)
    {
        departure.Granted.HasLeft = true;
        _line.Enqueue(departure);
    }

    /// <summary>Before the socket's lock: the table may be changed until the result is disposed.</summary>
    public ShortLock.Holder Change()
    {
        Finish();
        return _changes.Hold();
    }

    /// <summary>All that have left are out of the table when this returns. Outside of the socket's lock, because the receive queue may hand notices to a waiting consumer at once.</summary>
    public void Finish()
    {
        while (core.LeavingCount > 0)
        {
            using (_changes.Hold())
            {
                if (Next() is not { } departure)
                {
                    return; // Another thread was at it, and is through.
                }

                Tell(departure);
                TakeOut(departure.Granted);
            }

            core.Told?.AnnounceAll(); // Here, by whoever it was: the thread of the one that has left may be a while in waking up.
            core.Leave();
        }
    }

    private Departure? Next()
    {
        using (core.TableGate.Hold())
        {
            return _line.TryDequeue(out Departure? next) ? next : null;
        }
    }

    /// <summary>Without the socket's lock: nobody else changes the table.</summary>
    private void Tell(Departure departure)
    {
        if (core.Told is not { } told)
        {
            return;
        }

        (PublisherNotices Told, Departure Departure) state = (told, departure);
        if (departure.Asked is { } asked)
        {
            asked.Trie.ForEachPrefix(asked, state, static (prefix, _, state) => TellOne(state.Told, state.Departure, prefix, last: true));
        }
        else
        {
            departure.Granted.Trie.ForEachPrefix(departure.Granted, state, static (prefix, last, state) => TellOne(state.Told, state.Departure, prefix, last));
        }

        told.EndLosses();
    }

    private static void TellOne(PublisherNotices told, Departure departure, ReadOnlySpan<byte> prefix, bool last)
    {
        if (departure.Notices.TellsLoss(last))
        {
            told.AddLoss(departure.Pipe, prefix);
        }
    }

    private void TakeOut(Subscriber<Pipe> subscriber)
    {
        var removal = new PrefixRemoval<Pipe>(subscriber);
        while (removal.Find())
        {
            using (core.TableGate.Hold())
            {
                removal.TakeOut();
            }
        }

        core.OnOut(subscriber);
    }
}
