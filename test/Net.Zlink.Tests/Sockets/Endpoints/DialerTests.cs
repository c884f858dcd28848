using FsCheck.Fluent;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Endpoints;

/// <summary>What a dialer does when, without wires and a clock: the table of docs/protocol.md section 20.</summary>
public sealed class DialerTests
{
    private static readonly ReconnectPolicy s_policy = new(TimeSpan.FromSeconds(1), TimeSpan.Zero);

    // How to get there.
    private static readonly Dictionary<string, string> s_states = new(StringComparer.Ordinal)
    {
        ["new"] = "",
        ["turn"] = "start behind",
        ["connecting"] = "start",
        ["handshaking"] = "start, dialled",
        ["ready"] = "start, dialled, ready",
        ["pause"] = "start, lost",
        ["id"] = "start, dialled, ready, yield, lost, closed",
        ["id pause"] = "start, dialled, ready, yield, lost, closed, waited",
        ["yielding"] = "start, yield",
        ["ending step"] = "start, abort",
        ["ending connection"] = "start, dialled, abort",
        ["delivering"] = "start, dialled, ready, close later",
        ["lingering"] = "start, close later",
        ["over but open"] = "start, dialled, ready, close, lost",
        ["over"] = "start, abort, lost",
    };

    private static readonly string[] s_events =
    [
        "start", "start behind", "waited", "waited in vain", "dialled", "ready", "lost", "lost unsent", "closed", "yield", "close",
        "close later", "deadline", "cancel", "abort", "fault",
    ];

    // What has an effect: state, events, the next state and the commands. Every other event changes and commands nothing.
    private const string Table = """
        new: start -> Connecting: Dial
        new: start behind -> Waiting: AwaitTurn
        new: close, deadline, cancel, abort, fault -> Idle: End Settle
        new: close later -> Idle: ArmDeadline
        turn: waited, waited in vain -> Connecting: Dial
        turn: close, deadline, cancel, abort -> Ending: CancelStep
        turn: close later -> Waiting: ArmDeadline
        turn: fault -> Idle: End Settle
        connecting: dialled -> Handshaking: Serve
        connecting: lost, lost unsent -> Waiting: Pause
        connecting: close, deadline, cancel, abort -> Ending: CancelStep
        connecting: close later -> Connecting: ArmDeadline
        connecting: fault -> Idle: End Settle
        handshaking: ready -> Ready
        handshaking: lost, lost unsent -> Waiting: Pause
        handshaking: yield -> Handshaking: CloseConnection
        handshaking: close, deadline, abort -> Ending: CloseConnection
        handshaking: close later -> Handshaking: ArmDeadline
        handshaking: fault -> Idle: End Settle
        ready: lost, lost unsent -> Waiting: Pause
        ready: yield, close -> Ready: CloseConnection
        ready: close later -> Ready: ArmDeadline CloseConnection
        ready: abort -> Ending: CloseConnection
        ready: fault -> Idle: End Settle
        pause: waited, waited in vain -> Connecting: Dial
        pause: yield -> Waiting: CancelStep
        pause: close, deadline, cancel, abort -> Ending: CancelStep
        pause: close later -> Waiting: ArmDeadline
        pause: fault -> Idle: End Settle
        id: waited, waited in vain -> Waiting: Pause
        id: close, deadline, cancel, abort -> Ending: CancelStep
        id: close later -> Waiting: ArmDeadline
        id: fault -> Idle: End Settle
        id pause: waited -> Connecting: Dial
        id pause: waited in vain -> Waiting: AwaitRoutingId
        id pause: close, deadline, cancel, abort -> Ending: CancelStep
        id pause: close later -> Waiting: ArmDeadline
        id pause: fault -> Idle: End Settle
        yielding: dialled, lost, lost unsent -> Waiting: Renew AwaitRoutingId
        yielding: close, deadline, cancel, abort -> Ending: CancelStep
        yielding: close later -> Connecting: ArmDeadline
        yielding: fault -> Idle: End Settle
        ending step: waited, waited in vain, dialled, lost, lost unsent, fault -> Idle: End Settle
        ending connection: waited, waited in vain, dialled, lost, lost unsent -> Ending: End
        ending connection: fault -> Idle: End Settle
        delivering: lost -> Waiting: Pause
        delivering: lost unsent -> Ending: End
        delivering: yield -> Ready: CloseConnection
        delivering: abort -> Ending: CloseConnection
        delivering: fault -> Idle: End Settle
        lingering: dialled -> Handshaking: Serve
        lingering: lost -> Waiting: Pause
        lingering: lost unsent, fault -> Idle: End Settle
        lingering: deadline, cancel, abort -> Ending: CancelStep
        over but open: closed -> Idle: Settle
        """;

    private static readonly Dictionary<string, string> s_table = new(
        from row in Table.Split('\n', StringSplitOptions.TrimEntries)
        let arrow = row.IndexOf(" -> ", StringComparison.Ordinal)
        let colon = row.IndexOf(": ", StringComparison.Ordinal)
        from happened in row[(colon + 2)..arrow].Split(", ")
        select KeyValuePair.Create($"{row[..colon]}: {happened}", row[(arrow + 4)..]), StringComparer.Ordinal);

    public static TheoryData<string> States => [.. s_states.Keys];

    [Theory]
    [MemberData(nameof(States))]
    public void A_dialer_does_in_each_state_at_each_event_what_the_table_says(string state)
    {
        List<string> faults = [];
        foreach (string happened in s_events)
        {
            Dialer dialer = In(state);
            string before = $"{dialer.State}";
            Tell(dialer, happened);
            string after = $"{dialer.State}: {string.Join(' ', dialer.Commands.Select(static one => one.Action))}".TrimEnd(' ', ':');
            string expected = s_table.GetValueOrDefault($"{state}: {happened}", before);
            if (!string.Equals(expected, after, StringComparison.Ordinal))
            {
                faults.Add($"{state}: {happened} -> {after}");
            }
        }

        Assert.True(faults.Count == 0, string.Join('\n', faults));
    }

    [Fact]
    public void Every_dialer_that_is_closed_ends_once_with_one_step_at_a_time_and_every_connection_closed() =>
        ForAllArrays(Gen.Choose(0, 99), 400, static choices =>
        {
            var run = new Run(choices.Length > 0 && choices[0] % 3 == 0);
            foreach (int choice in choices)
            {
                run.Take(choice);
            }

            run.End();
        });

    [Fact]
    public void Faults_lengthen_the_pauses_and_brief_connections_are_explained()
    {
        Dialer dialer = In("connecting");
        var fault = new ConnectionEnd("a fault") { WasReady = true, IsFault = true, WhyNoFurther = "never again" };
        Assert.Equal([2, 4, 8, 16, 30, 30], Enumerable.Range(0, 6).Select(_ => PauseAfter(dialer, fault).Pause.TotalSeconds));
        Assert.Equal(2, PauseAfter(dialer, fault with { ReadyFor = TimeSpan.FromSeconds(30) }).Pause.TotalSeconds);
        var brief = new ConnectionEnd("the end") { WasReady = true, WasBrief = true };
        DialerCommand[] pauses = [.. Enumerable.Range(0, 3).Select(_ => PauseAfter(dialer, brief))];
        Assert.Equal([1.5, 1.5, 1.5], pauses.Select(static one => one.Pause.TotalSeconds));
        Assert.Equal([false, false, true], pauses.Select(static one => one.IsLogged));
        Assert.Contains("3 times or more", pauses[2].Text, StringComparison.Ordinal);
        Assert.Equal(pauses[2].Text, dialer.Problem);
    }

    [Theory]
    [InlineData(false, false, "never again")]
    [InlineData(true, false, null)]
    [InlineData(true, true, "never again")]
    public void A_fault_ends_the_endpoint_unless_faults_are_retried_and_it_is_not_final(bool retries, bool isFinal, string? gaveUp)
    {
        var dialer = new Dialer(s_policy, retries, isAwaited: false, static () => 0.5);
        Tell(dialer, "start, dialled, ready");
        dialer.Commands.Clear();
        dialer.OnEnded(new ConnectionEnd("the end") { WasReady = true, WhyNoFurther = "never again", IsFinal = isFinal }, hasWork: true);
        DialerCommand command = dialer.Commands.Dequeue();
        Assert.Equal(gaveUp is null ? DialerAction.Pause : DialerAction.End, command.Action);
        Assert.Equal(gaveUp ?? "the end", command.Text);
    }

    [Theory]
    [InlineData("start, lost", "refused")]
    [InlineData("start, dialled, lost", "refused")]
    [InlineData("start, dialled, ready, lost", "the connection was lost, and reconnecting is off")]
    public void A_dialer_that_does_not_reconnect_gives_up_with_the_reason(string path, string why)
    {
        var dialer = new Dialer(new ReconnectPolicy(TimeSpan.Zero, TimeSpan.Zero), retriesFaults: true, isAwaited: false, static () => 0.5);
        Tell(dialer, path);
        Assert.Equal(why, Assert.Single(dialer.Commands, static one => one.Action == DialerAction.End).Text);
    }

    [Theory]
    [InlineData("start, lost", true)]
    [InlineData("start, dialled, lost", true)]
    [InlineData("start, dialled, ready, lost", false)]
    public void A_first_attempt_that_is_awaited_ends_the_dialer_with_its_failure(string path, bool ends)
    {
        var dialer = new Dialer(s_policy, retriesFaults: true, isAwaited: true, static () => 0.5);
        Tell(dialer, path);
        Assert.Equal(ends ? "" : null, dialer.Commands.Where(static one => one.Action == DialerAction.End).Select(static one => one.Text)
            .SingleOrDefault());
    }

    private static Dialer In(string state)
    {
        var dialer = new Dialer(s_policy, retriesFaults: true, isAwaited: false, static () => 0.5);
        Tell(dialer, s_states[state]);
        dialer.Commands.Clear();
        return dialer;
    }

    private static DialerCommand PauseAfter(Dialer dialer, in ConnectionEnd end)
    {
        Tell(dialer, "dialled, ready");
        dialer.Commands.Clear();
        dialer.OnEnded(end, hasWork: false);
        DialerCommand pause = dialer.Commands.Dequeue();
        dialer.OnWaited();
        return pause;
    }

    private static void Tell(Dialer dialer, string events)
    {
        foreach (string happened in events.Split(", ", StringSplitOptions.RemoveEmptyEntries))
        {
            Action tell = happened switch
            {
                "start" => () => dialer.Start(),
                "start behind" => () => dialer.Start(hasPredecessor: true),
                "waited" => () => dialer.OnWaited(),
                "waited in vain" => () => dialer.OnWaited(isIdFree: false),
                "dialled" => () => dialer.OnDialled(),
                "ready" => () => dialer.OnReady(),
                "lost" or "lost unsent" => () => dialer.OnEnded(
                    new ConnectionEnd("refused") { WasReady = dialer.State == DialerState.Ready }, hasWork: happened is "lost"),
                "closed" => dialer.OnClosed,
                "yield" => dialer.YieldRoutingId,
                "close" => () => dialer.Close(DisconnectReason.Local, delivers: false),
                "close later" => () => dialer.Close(DisconnectReason.Local, delivers: true),
                "deadline" => dialer.OnDeadline,
                "cancel" => dialer.CancelAttempt,
                "abort" => dialer.Abort,
                _ => dialer.OnFault,
            };
            tell();
        }
    }

    /// <summary>Everything that a dialer's commands start and that others do to it, in any order that can be.</summary>
    private sealed class Run(bool isAwaited)
    {
        private readonly Dialer _dialer = new(s_policy, retriesFaults: true, isAwaited, static () => 0.5);
        private DialerAction? _step;
        private bool _isServed;
        private int _open;
        private int _ends;
        private int _settled;

        public void Take(int choice)
        {
            bool bit = choice % 2 == 0;
            switch (choice / 2 % 10)
            {
                case 0:
                    _dialer.Start(hasPredecessor: bit);
                    break;
                case 1:
                    _dialer.YieldRoutingId();
                    break;
                case 2 when choice > 90:
                    _dialer.Close(DisconnectReason.Local, delivers: bit);
                    break;
                case 3 when choice > 90:
                    _dialer.Abort();
                    break;
                case 4 when _isServed:
                    _dialer.OnReady();
                    break;
                case 5 or 6:
                    EndConnection(bit);
                    break;
                case 7 when _open > (_isServed ? 1 : 0):
                    _open--;
                    _dialer.OnClosed();
                    break;
                default:
                    Answer(bit);
                    break;
            }

            Execute();
        }

        public void End()
        {
            _dialer.Close(DisconnectReason.Local, delivers: true);
            _dialer.OnDeadline();
            Execute();
            for (int i = 0; i < 10; i++)
            {
                Answer(fails: true);
                EndConnection(hasWork: true);
                while (_open > (_isServed ? 1 : 0))
                {
                    _open--;
                    _dialer.OnClosed();
                }

                Execute();
            }

            Assert.Equal((DialerState.Idle, 1, 1, 0), (_dialer.State, _ends, _settled, _open));
        }

        private void Answer(bool fails)
        {
            DialerAction? step = _step;
            _step = null;
            if (step == DialerAction.Dial && fails)
            {
                _dialer.OnEnded(new ConnectionEnd("refused"), hasWork: true);
            }
            else if (step == DialerAction.Dial)
            {
                bool isWanted = _dialer.OnDialled();
                Assert.Equal(_dialer.State == DialerState.Handshaking, isWanted);
            }
            else if (step is not null)
            {
                _dialer.OnWaited(isIdFree: !fails);
            }
        }

        private void EndConnection(bool hasWork)
        {
            if (_isServed)
            {
                _isServed = false;
                _dialer.OnEnded(new ConnectionEnd("the end") { WasReady = _dialer.State == DialerState.Ready }, hasWork);
            }
        }

        private void Execute()
        {
            while (_dialer.Commands.TryDequeue(out DialerCommand command))
            {
                switch (command.Action)
                {
                    case DialerAction.AwaitTurn or DialerAction.AwaitRoutingId or DialerAction.Pause or DialerAction.Dial:
                        Assert.True(_step is null && !_isServed && _ends == 0, $"{command} beside {_step}");
                        _step = command.Action;
                        break;
                    case DialerAction.Serve:
                        Assert.True(_step is null && !_isServed && _ends == 0, $"{command} beside {_step}");
                        _isServed = true;
                        _open++;
                        break;
                    case DialerAction.CloseConnection:
                        Assert.True(_isServed, "there is no connection to close");
                        break;
                    case DialerAction.CancelStep:
                        Assert.NotNull(_step);
                        break;
                    case DialerAction.End:
                        _ends++;
                        break;
                    case DialerAction.Settle:
                        _settled++;
                        break;
                    default:
                        break;
                }
            }
        }
    }
}
