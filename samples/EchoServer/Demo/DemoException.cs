namespace EchoServer.Demo;

/// <summary>The demo found something that is not as it should be; the message says what.</summary>
internal sealed class DemoException(string message) : Exception(message);
