using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Reading;

/// <summary>Reads one entry of a transcript's actions.</summary>
internal static class ActionReader
{
    public static TranscriptAction Read(StrictObject entry)
    {
        string word = entry.Text("do");
        ActionKind kind = word switch
        {
            "monitor" => ActionKind.Monitor,
            "bind" => ActionKind.Bind,
            "connect" => ActionKind.Connect,
            "accept" => ActionKind.Accept,
            "set" => ActionKind.Set,
            "subscribe" => ActionKind.Subscribe,
            "unsubscribe" => ActionKind.Unsubscribe,
            "close" => ActionKind.Close,
            "cut" => ActionKind.Cut,
            "idle" => ActionKind.Idle,
            "unbind" or "disconnect" => throw new NotSupportedYetException($"action {word} ({entry.What})"),
            _ => throw new TranscriptFormatException($"{entry.What}: unknown action {word}"),
        };
        TranscriptAction action = WithKeys(new TranscriptAction(entry.Number("step"), entry.Text("at"), kind), entry);
        entry.Finish();
        return action;
    }

    private static TranscriptAction WithKeys(TranscriptAction action, StrictObject entry)
    {
        switch (action.Kind)
        {
            case ActionKind.Connect:
                return action with { Connection = entry.Number("conn", low: 1) };
            case ActionKind.Accept:
                return action with
                {
                    Connection = entry.Number("conn", low: 1),
                    WithinMs = entry.OptionalNumber("within_ms", low: 1),
                    Unrecorded = entry.Flag("unrecorded")
                };
            case ActionKind.Cut:
                return action with { Connection = entry.Number("conn", low: 1), Cut = TrafficReader.Close(entry.Text("how"), entry.What) };
            case ActionKind.Idle:
                return action with { Milliseconds = entry.Number("ms", low: 1) };
            case ActionKind.Set:
                entry.Ignore("when"); // The order of the list says the same.
                return action with
                {
                    Option = OptionTable.ReadTyped(
                    entry.Text("option"), entry.Text("type"), entry.Required("value"), entry.What)
                };
            case ActionKind.Subscribe or ActionKind.Unsubscribe:
                entry.Ignore("when");
                return action with { Topic = entry.Bytes("topic") };
            default:
                return action;
        }
    }
}
