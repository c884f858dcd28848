using Net.Zlink.Monitoring;

namespace Net.Zlink.Engine;

/// <summary>Ends a connection whose peer sends nothing for too long. Touched only on the shard.</summary>
internal sealed class IdleWatch
{
    private readonly Connection _connection;
    private readonly TimeSpan _limit;
    private readonly ShardTimer _timer;
    private long _lastActivity;

    /// <summary>The peer is silent from here on: before anybody is told of it, so that no time is lost that passes until the shard begins. The one member that any thread may call.</summary>
    public IdleWatch(Connection connection, TimeSpan limit)
    {
        _connection = connection;
        _limit = limit;
        _timer = new ShardTimer(static state => ((IdleWatch)state).OnTimer(), this);
        Touch();
    }

    private ShardTimers Timers => _connection.Shard.Timers;

    /// <summary>The peer has sent something, be it a part of a frame; or it is read again, and its time begins anew.</summary>
    public void Touch() => _lastActivity = Timers.Timestamp();

    /// <summary>Begins to watch.</summary>
    public void Start() => Timers.Arm(_timer, _limit - Timers.Time.GetElapsedTime(_lastActivity));

    public void Stop() => Timers.Cancel(_timer);

    private void OnTimer()
    {
        TimeSpan quiet = Timers.Time.GetElapsedTime(_lastActivity);
        if (!_connection.IsParked && quiet >= _limit && _connection.HasUnread)
        {
            Touch(); // It has sent something, which nobody has come to read yet: the process stood still, or its processors are busy.
            quiet = TimeSpan.Zero;
        }

        if (_connection.IsParked || quiet < _limit)
        {
            // A parked connection is silent because we do not read it: its clock stands still.
            Timers.Arm(_timer, _connection.IsParked ? _limit : _limit - quiet);
            return;
        }

        _connection.Close(DisconnectReason.IdleTimeout, CloseMode.Orderly, $"nothing received for {_limit}");
    }
}
