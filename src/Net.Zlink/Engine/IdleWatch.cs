using Net.Zlink.Monitoring;

namespace Net.Zlink.Engine;

internal sealed class IdleWatch
{
    private readonly Connection _connection;
    private readonly TimeSpan _limit;
    private readonly ShardTimer _timer;
    private long _lastActivity;

    /// <summary>Starts the clock before the shard starts, so that this delay counts.</summary>
    public IdleWatch(Connection connection, TimeSpan limit)
    {
        _connection = connection;
        _limit = limit;
        _timer = new ShardTimer(static state => ((IdleWatch)state).OnTimer(), this);
        Touch();
    }

    private ShardTimers Timers => _connection.Shard.Timers;

    public void Touch() => _lastActivity = Timers.Timestamp();

    public void Start() => Timers.Arm(_timer, _limit - Timers.Time.GetElapsedTime(_lastActivity));

    public void Stop() => Timers.Cancel(_timer);

    private void OnTimer()
    {
        TimeSpan quiet = Timers.Time.GetElapsedTime(_lastActivity);
        if (!_connection.IsPaused && quiet >= _limit && _connection.Wire.HasUnread)
        {
            Touch();
            quiet = TimeSpan.Zero;
        }

        if (_connection.IsPaused || quiet < _limit)
        {
            // The peer of a paused connection is silent because we do not read: its time does not count.
            Timers.Arm(_timer, _connection.IsPaused ? _limit : _limit - quiet);
            return;
        }

        _connection.Close(DisconnectReason.IdleTimeout, CloseMode.Orderly, $"nothing received for {_limit}");
    }
}
