DROP TABLE admin_system_events;
DROP TABLE notifications;
