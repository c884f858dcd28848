using Xunit;

namespace Net.Zlink.Analyzers.Tests;

public sealed class LeaseTests
{
    [Theory]
    [InlineData("Message {|ZLINK001:message|} = await socket.ReceiveAsync(token); Console.WriteLine(message.GetString());")]
    [InlineData("Message {|ZLINK001:message|} = await socket.ReceiveAsync(token).ConfigureAwait(false); _ = message.Span.Length;")]
    [InlineData("Message {|ZLINK001:message|} = socket.Receive(); _ = message.PartCount;")]
    [InlineData("StreamMessage {|ZLINK001:message|} = stream.Receive(); _ = message.PeerId;")]
    [InlineData("if (socket.TryReceive(out Message {|ZLINK001:message|})) { Console.WriteLine(message.GetString()); }")]
    [InlineData("while (socket.TryReceive(out var {|ZLINK001:message|})) { _ = message.GetString(); }")]
    [InlineData("await foreach (Message {|ZLINK001:message|} in socket.ReceiveAllAsync(token)) { _ = message.GetString(); }")]
    [InlineData("Message {|ZLINK001:message|} = router.Receive(); await router.To(message).SendAsync(\"answer\", token);")]
    public Task A_message_that_is_read_and_left_is_reported(string statements) => AnalyzerCheck.Body<LeaseAnalyzer>(statements);

    [Theory]
    [InlineData("Message {|ZLINK001:message|} = socket.Receive(); if (message.PartCount > 1) { return; } message.Dispose();")]
    [InlineData("Message {|ZLINK001:message|} = socket.Receive(); if (message.PartCount > 1) { message.Dispose(); }")]
    [InlineData("while (true) { Message {|ZLINK001:m|} = socket.Receive(); if (m.PartCount > 1) { continue; } m.Dispose(); }")]
    [InlineData("Message {|ZLINK001:m|} = socket.Receive(); m = socket.Receive(); m.Dispose();")]
    public Task A_path_that_skips_the_Dispose_is_reported(string statements) => AnalyzerCheck.Body<LeaseAnalyzer>(statements);

    [Theory]
    [InlineData("using Message message = await socket.ReceiveAsync(token); _ = message.GetString();")]
    [InlineData("using (Message message = socket.Receive()) { _ = message.GetString(); }")]
    [InlineData("Message message = socket.Receive(); using (message) { _ = message.GetString(); }")]
    [InlineData("await foreach (Message message in socket.ReceiveAllAsync(token)) { using (message) { _ = message.GetString(); } }")]
    [InlineData("await foreach (Message message in socket.ReceiveAllAsync(token)) { _ = message.GetString(); message.Dispose(); }")]
    [InlineData("if (socket.TryReceive(out Message message)) { message.Dispose(); }")]
    [InlineData("if (!socket.TryReceive(out Message message)) { return; } message.Dispose();")]
    [InlineData("Message message = socket.Receive(); try { _ = message.GetString(); } finally { message.Dispose(); }")]
    [InlineData("Message message = socket.Receive(); try { if (message.PartCount > 1) { return; } } finally { message.Dispose(); }")]
    [InlineData("Message message = socket.Receive(); if (message.PartCount > 1) { throw new Exception(); } message.Dispose();")]
    public Task A_message_that_ends_on_each_path_is_not_reported(string statements) => AnalyzerCheck.Body<LeaseAnalyzer>(statements);

    [Theory]
    [InlineData("Message message = socket.Receive(); await router.SendToAsync(message);")]
    [InlineData("Message message = socket.Receive(); await socket.SendAsync(message, token);")]
    [InlineData("Message message = socket.Receive(); if (!socket.TrySend(message)) { message.Dispose(); }")]
    [InlineData("Message message = socket.Receive(); Keep(message);")]
    [InlineData("Message message = socket.Receive(); s_kept = message;")]
    [InlineData("Message message = socket.Receive(); var list = new List<Message> { message };")]
    [InlineData("Message message = socket.Receive(); _ = Task.Run(() => { using (message) { _ = message.GetString(); } });")]
    [InlineData("bool has = socket.TryReceive(out Message message); if (has) { message.Dispose(); }")]
    public Task A_message_that_is_sent_stored_or_passed_on_is_not_reported(string statements) =>
        AnalyzerCheck.Body<LeaseAnalyzer>(statements.Replace("await router.SendToAsync(message);", "await Task.FromResult(message);",
            StringComparison.Ordinal));

    [Theory]
    [InlineData("Message m = socket.Receive(); m.Dispose(); _ = {|ZLINK002:m|}.GetString();")]
    [InlineData("using Message m = socket.Receive(); await socket.SendAsync(m, token); _ = {|ZLINK002:m|}.Span.Length;")]
    [InlineData("using Message m = socket.Receive(); if (socket.TrySend(m)) { _ = {|ZLINK002:m|}.GetString(); }")]
    [InlineData("using Message m = socket.Receive(); if (m.PartCount > 1) { m.Dispose(); } _ = {|ZLINK002:m|}.GetString();")]
    [InlineData("using Message m = socket.Receive(); for (int i = 0; i < 2; i++) { await socket.SendAsync({|ZLINK002:m|}, token); }")]
    [InlineData("Message m = socket.Receive(); m.Dispose(); Keep({|ZLINK002:m|});")]
    public Task A_use_after_the_end_is_reported(string statements) => AnalyzerCheck.Body<LeaseAnalyzer>(statements);

    [Theory]
    [InlineData("Message m = socket.Receive(); m.Dispose(); m = socket.Receive(); _ = m.GetString(); m.Dispose();")]
    [InlineData("Message m = socket.Receive(); m.Dispose(); m.Dispose();")]
    [InlineData("using Message m = socket.Receive(); if (!socket.TrySend(m)) { _ = m.GetString(); }")]
    [InlineData("using Message m = socket.Receive(); await socket.SendAsync(m.Copy(), token); _ = m.GetString();")]
    [InlineData("using Message m = socket.Receive(); if (m.PartCount > 1) { m.Dispose(); return; } _ = m.GetString();")]
    [InlineData("while (true) { using Message m = socket.Receive(); _ = m.GetString(); await socket.SendAsync(m, token); }")]
    [InlineData("await foreach (Message m in socket.ReceiveAllAsync(token)) { _ = m.GetString(); m.Dispose(); }")]
    public Task A_use_before_the_end_or_of_the_next_message_is_not_reported(string statements) =>
        AnalyzerCheck.Body<LeaseAnalyzer>(statements);

    [Fact]
    public Task What_services_receive_is_followed_too() => AnalyzerCheck.Body<LeaseAnalyzer>(
        "await foreach (ServiceRequest {|ZLINK001:request|} in receiver.ReceiveAllAsync(token)) { _ = request.GatewayId; }");

    [Fact]
    public Task A_message_in_a_local_function_is_followed() => AnalyzerCheck.Body<LeaseAnalyzer>(
        "void Read() { Message {|ZLINK001:message|} = socket.Receive(); _ = message.GetString(); } Read();");

    [Fact]
    public Task The_fix_declares_the_message_with_using() => AnalyzerCheck.FixedBody<LeaseAnalyzer>(
        "// First.\n        Message {|ZLINK001:message|} = await socket.ReceiveAsync(token);\n        _ = message.GetString();",
        "// First.\n        using Message message = await socket.ReceiveAsync(token);\n        _ = message.GetString();");
}
