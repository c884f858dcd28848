using Net.Zlink.Flow;

namespace Net.Zlink.Engine;

internal sealed class ShardTimer(Action<object> callback, object state)
{
    internal const int NotQueued = -1;

    internal int HeapIndex = NotQueued;

    internal long Due;

    /// <summary>By so much it may fire before it is due, together with an earlier one.</summary>
    internal long Slack;

    public bool IsArmed => HeapIndex != NotQueued;

    internal void Fire() => callback(state);
}

/// <summary>A heap behind a single timer of the clock: 10,000 connections with an idle timeout cost one system timer per shard.</summary>
internal sealed class ShardTimers : ShardWork, IDisposable
{
    // After a suspension all deadlines may be due, and each may close a connection in 50 us. This many fit into a turn.
    private const int MaxPerRun = 32;

    private readonly ShardLoop _shard;
    private readonly TimeProvider _time;
    private readonly ITimer _clock;
    private ShardTimer[] _heap = new ShardTimer[16];
    private int _count;
    private long _clockDue = long.MaxValue;

    public ShardTimers(ShardLoop shard, TimeProvider time)
    {
        _shard = shard;
        _time = time;

        // Otherwise the clock would keep the AsyncLocals of the context's creator alive.
        _clock = DefaultContext.Run(() => time.CreateTimer(
            static state => ((ShardTimers)state!).Tick(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan));
    }

    public TimeProvider Time => _time;

    public int Count => _count;

    public long Timestamp() => _time.GetTimestamp();

    /// <summary>Arms a timer that may fire up to an eighth of the delay early, together with another one: ten connections that send
    /// heartbeats wake the process once, and not ten times.</summary>
    public void ArmWithSlack(ShardTimer timer, TimeSpan delay)
    {
        Arm(timer, delay);
        timer.Slack = (timer.Due - _time.GetTimestamp()) / 8;
    }

    public void Arm(ShardTimer timer, TimeSpan delay)
    {
        long now = _time.GetTimestamp();
        double ticks = Math.Ceiling(Math.Max(0, delay.TotalSeconds) * _time.TimestampFrequency);
        timer.Due = ticks < long.MaxValue / 2 ? now + (long)ticks : long.MaxValue - 1;
        timer.Slack = 0;
        if (timer.HeapIndex == ShardTimer.NotQueued)
        {
            if (_count == _heap.Length)
            {
                Array.Resize(ref _heap, _count * 2);
            }

            timer.HeapIndex = _count;
            _heap[_count++] = timer;
        }

        SiftUp(timer.HeapIndex);
        SiftDown(timer.HeapIndex);
        SetClock();
    }

    public TimeSpan Remaining(ShardTimer timer) => _time.GetElapsedTime(_time.GetTimestamp(), timer.Due);

    public void Cancel(ShardTimer? timer)
    {
        if (timer is null || timer.HeapIndex == ShardTimer.NotQueued)
        {
            return;
        }

        Remove(timer.HeapIndex);
    }

    public void Dispose() => _clock.Dispose();

    internal override void Run(int reasons)
    {
        _clockDue = long.MaxValue;
        long now = _time.GetTimestamp();
        for (int fired = 0; _count > 0 && _heap[0].Due - (fired > 0 ? _heap[0].Slack : 0) <= now; fired++)
        {
            if (fired == MaxPerRun)
            {
                _shard.Post(this, 1);
                return;
            }

            ShardTimer timer = _heap[0];
            Remove(0);
            timer.Fire();
        }

        SetClock();
    }

    internal override void OnFault(Exception exception) => SetClock();

    internal override string Describe() => "a time limit of a connection";

    private void Tick() => _shard.Post(this, 1);

    private void SetClock()
    {
        if (_count == 0 || _heap[0].Due >= _clockDue)
        {
            return; // An early tick sets the clock again: cheaper than a change with each timer.
        }

        _clockDue = _heap[0].Due;
        double seconds = Math.Max(0, _clockDue - _time.GetTimestamp()) / (double)_time.TimestampFrequency;

        // System timers count whole milliseconds; rounding up avoids a tick that finds nothing due.
        _clock.Change(TimeSpan.FromMilliseconds(Math.Min(Math.Ceiling(seconds * 1000), int.MaxValue)), Timeout.InfiniteTimeSpan);
    }

    private void Remove(int index)
    {
        ShardTimer removed = _heap[index];
        ShardTimer last = _heap[--_count];
        _heap[_count] = null!;
        removed.HeapIndex = ShardTimer.NotQueued;
        if (index != _count)
        {
            _heap[index] = last;
            last.HeapIndex = index;
            SiftUp(index);
            SiftDown(last.HeapIndex);
        }
    }

    private void SiftUp(int index)
    {
        while (index > 0)
        {
            int parent = (index - 1) / 2;
            if (_heap[parent].Due <= _heap[index].Due)
            {
                return;
            }

            Swap(parent, index);
            index = parent;
        }
    }

    private void SiftDown(int index)
    {
        while (true)
        {
            int child = (2 * index) + 1;
            if (child >= _count)
            {
                return;
            }

            if (child + 1 < _count && _heap[child + 1].Due < _heap[child].Due)
            {
                child++;
            }

            if (_heap[index].Due <= _heap[child].Due)
            {
                return;
            }

            Swap(index, child);
            index = child;
        }
    }

    private void Swap(int a, int b)
    {
        (_heap[a], _heap[b]) = (_heap[b], _heap[a]);
        _heap[a].HeapIndex = a;
        _heap[b].HeapIndex = b;
    }
}
